/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <linux/fs.h>
#include <linux/quota.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/num.h"
#include "base/own.h"

#define CAPABILITY "disk_cap"
#define REMEDY "use --workdir new, a private file system of that size"
#define QUOTA_BLOCK_BYTES 1024 /* unit of dqb_bhardlimit */

static int quotactl(int fd, unsigned int command, uint32_t project, void *answer)
{
	return (int)syscall(SYS_quotactl_fd, fd, QCMD(command, PRJQUOTA), project, answer);
}

static int project_of(const char *path, int fd, uint32_t *project, struct err *err)
{
	struct fsxattr attr;

	if (ioctl(fd, FS_IOC_FSGETXATTR, &attr) < 0)
		return err_cannot(
			err, CAPABILITY,
			"the file system of '%s' has no project quota (FS_IOC_FSGETXATTR: "
			"errno %d): " REMEDY,
			path, errno);
	if (!attr.fsx_projid || !(attr.fsx_xflags & FS_XFLAG_PROJINHERIT))
		return err_cannot(
			err, CAPABILITY,
			"'%s' belongs to no project that what is made below it inherits: " REMEDY
			", or give it a project (xfs_quota or chattr +P -p)",
			path);
	*project = attr.fsx_projid;
	return 0;
}

static int limit_of(const char *path, int fd, uint32_t project, uint64_t *bytes, struct err *err)
{
	struct fs_quota_stat state = { .qs_version = FS_QSTAT_VERSION };
	struct if_dqblk quota = { 0 };

	if (quotactl(fd, Q_XGETQSTAT, 0, &state) < 0 || !(state.qs_flags & FS_QUOTA_PDQ_ENFD))
		return err_cannot(err, CAPABILITY,
				  "project quota is not enforced on the file system of '%s': mount "
				  "it with prjquota, or " REMEDY,
				  path);
	if (quotactl(fd, Q_GETQUOTA, project, &quota) < 0 || !quota.dqb_bhardlimit)
		return err_cannot(err, CAPABILITY,
				  "project %u of '%s' has no hard limit on blocks: set one with "
				  "setquota -P or xfs_quota, or " REMEDY,
				  project, path);
	*bytes = quota.dqb_bhardlimit * QUOTA_BLOCK_BYTES;
	return 0;
}

int mounts_project_quota(const char *path, uint64_t bytes, bool pinned, struct err *err)
{
	own_fd fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char have[32], asked[32];
	uint32_t project = 0;
	uint64_t limit = 0;
	int r;

	if (fd < 0)
		return err_set(err, -errno, "open directory '%s'", path);
	r = project_of(path, fd, &project, err);
	if (!r)
		r = limit_of(path, fd, project, &limit, err);
	if (r < 0)
		return r;

	if (limit > bytes) {
		num_size_text(limit, have, sizeof(have));
		num_size_text(bytes, asked, sizeof(asked));
		return err_cannot(err, CAPABILITY,
				  "the project quota of '%s' is %s, more than the %s asked for: "
				  "lower it, or " REMEDY,
				  path, have, asked);
	}
	if (!pinned)
		return err_cannot(err, CAPABILITY,
				  "'%s' has a project quota, but the command could change the "
				  "project of files it owns and so leave it: " REMEDY,
				  path);
	return 0;
}
