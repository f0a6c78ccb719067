/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/pins.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/io.h"
#include "base/own.h"
#include "build_id.h"
#include "sbx/kern.h"

#define DEFAULT_RUN_DIR "/run/sbx"
#define HOST_BPFFS "/sys/fs/bpf"
#define BUILD_CHARS 16 /* of the build id, in names */

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && (unsigned long)fs.f_type == BPF_FS_MAGIC;
}

/* A private run directory has a private kernel half, so that tests meet neither each other's
 * nor the host's. */
static int choose(struct pins *p, struct err *err)
{
	const char *given = secure_getenv("SBX_BPFFS"), *top = secure_getenv("SBX_RUN_DIR");
	int n;

	if (given && *given) {
		if (!is_bpffs(given))
			return err_say(err, ERR_VALIDATION, -EINVAL,
				       "SBX_BPFFS='%s' is not a bpffs: mount -t bpf bpf '%s'",
				       given, given);
		n = snprintf(p->bpffs, sizeof(p->bpffs), "%s", given);
	} else if (!(top && *top) && is_bpffs(HOST_BPFFS)) {
		n = snprintf(p->bpffs, sizeof(p->bpffs), "%s", HOST_BPFFS);
	} else {
		p->own_mount = true;
		n = snprintf(p->bpffs, sizeof(p->bpffs), "%s/bpf",
			     top && *top ? top : DEFAULT_RUN_DIR);
	}
	if (n >= (int)sizeof(p->bpffs))
		return err_say(err, ERR_VALIDATION, -ENAMETOOLONG,
			       "the path of the bpffs is longer than %zu bytes: %s",
			       sizeof(p->bpffs) - 1, given && *given ? given : top);
	snprintf(p->root, sizeof(p->root), "%s/sbx", p->bpffs);
	snprintf(p->dir, sizeof(p->dir), "%s/%d/%.*s", p->root, SBX_ABI, BUILD_CHARS, SBX_BUILD_ID);
	return 0;
}

static int mount_error(const struct pins *p, int error, struct err *err)
{
	if (error == EPERM || error == EACCES)
		return err_say(
			err, ERR_PERMISSION, -error,
			"cannot mount a bpffs on '%s': %s (run as root with CAP_SYS_ADMIN; in a "
			"container "
			"--cap-add SYS_ADMIN, or mount the host's: -v /sys/fs/bpf:/sys/fs/bpf)",
			p->bpffs, strerror(error));
	if (error == ENODEV)
		return err_say(err, ERR_UNSUPPORTED, -error,
			       "this kernel has no bpffs: CONFIG_BPF_SYSCALL=y is needed");
	return err_set(err, -error, "mount -t bpf bpf '%s'", p->bpffs);
}

/* The lock on the run directory keeps two first starts from mounting over each other. */
static int mount_own(const struct pins *p, struct err *err)
{
	own_fd lock = -1;
	int rc = io_mkdir_p(p->bpffs, 0700, err);

	if (rc)
		return rc;
	lock = open(p->bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX))
		return err_set(err, -errno, "lock '%s'", p->bpffs);
	if (is_bpffs(p->bpffs))
		return 0;
	if (mount("bpf", p->bpffs, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return mount_error(p, errno, err);
	return 0;
}

static int make_root(const struct pins *p, struct err *err)
{
	if (mkdir(p->root, 0700) && errno != EEXIST)
		return err_set(err, -errno, "make '%s' (sbx must run as root)", p->root);
	return 0;
}

/* An unload may remove the directory between our open and our lock: then it is not the one to
 * lock. */
static int lock_root(struct pins *p, int how, struct err *err)
{
	struct stat st;

	for (;;) {
		close_fd(&p->lock_fd);
		p->lock_fd = open(p->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (p->lock_fd < 0 && errno != ENOENT)
			return err_set(err, -errno, "open '%s' (sbx must run as root)", p->root);
		if (p->lock_fd < 0) {
			int rc = p->own_mount && !is_bpffs(p->bpffs) ? mount_own(p, err) : 0;

			if (!rc)
				rc = make_root(p, err);
			if (rc)
				return rc;
			continue;
		}
		if (flock(p->lock_fd, how))
			return err_set(err, -errno, "lock '%s'", p->root);
		if (fstat(p->lock_fd, &st))
			return err_set(err, -errno, "stat '%s'", p->root);
		if (st.st_nlink)
			return 0;
	}
}

int pins_open(struct pins *p, bool exclusive, struct err *err)
{
	int rc;

	*p = (struct pins){ .lock_fd = -1 };
	rc = choose(p, err);
	if (!rc)
		rc = lock_root(p, exclusive ? LOCK_EX : LOCK_SH, err);
	if (rc)
		pins_close(p);
	return rc;
}

int pins_lock_exclusive(struct pins *p, struct err *err)
{
	return lock_root(p, LOCK_EX, err);
}

void pins_close(struct pins *p)
{
	close_fd(&p->lock_fd);
}

int pins_each(const struct pins *p, int (*fn)(void *arg, const char *dir), void *arg)
{
	char abi[PINS_PATH], path[2 * PINS_PATH];
	struct dirent *e;
	own_dir dir = NULL;
	int rc = 0;

	snprintf(abi, sizeof(abi), "%s/%d", p->root, SBX_ABI);
	dir = opendir(abi);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!rc && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || strlen(e->d_name) > BUILD_CHARS + 4)
			continue;
		snprintf(path, sizeof(path), "%s/%.*s", abi, BUILD_CHARS + 4, e->d_name);
		rc = fn(arg, path);
	}
	return rc;
}

int pins_remove(const char *path)
{
	struct dirent *e;
	own_dir dir = opendir(path);

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.' && unlinkat(dirfd(dir), e->d_name, 0) && errno != ENOENT)
			return -errno;
	return rmdir(path) && errno != ENOENT ? -errno : 0;
}

void pins_vanish(struct pins *p)
{
	char abi[PINS_PATH];

	snprintf(abi, sizeof(abi), "%s/%d", p->root, SBX_ABI);
	rmdir(abi);
	if (rmdir(p->root) || !p->own_mount)
		return;
	/* A start that waits for the lock mounts anew. */
	if (!umount2(p->bpffs, MNT_DETACH))
		rmdir(p->bpffs);
}
