/* SPDX-License-Identifier: Apache-2.0 */
#include "run/rundir_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/own.h"
#include "run/rundir.h"

#define BY_UID "by-uid"
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int open_made(int parent, const char *name, mode_t mode)
{
	int fd = openat(parent, name, OPEN_DIR);

	if (fd >= 0 || errno != ENOENT || (mkdirat(parent, name, mode) && errno != EEXIST))
		return fd;
	fd = openat(parent, name, OPEN_DIR);
	if (fd >= 0 && fchmod(fd, mode)) /* whatever the umask */
		close_fd(&fd);
	return fd;
}

/* Root's, so that its user cannot fill it; readable by the group that the user has. */
void rundir_index_add(int top, const char *id, uid_t reader, gid_t reader_gid)
{
	own_fd all = open_made(top, BY_UID, 0711), of = -1, entry = -1;
	char name[16];

	snprintf(name, sizeof(name), "%u", reader);
	if (all >= 0)
		of = open_made(all, name, 0750);
	if (of < 0 || fchown(of, (uid_t)-1, reader_gid))
		return;
	entry = openat(of, id, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static DIR *open_list(int parent, const char *name)
{
	int fd = openat(parent, name, OPEN_DIR);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		close_fd(&fd);
	return dir;
}

int rundir_index_each(const char *top, uid_t reader, int (*fn)(void *arg, const char *id),
		      void *arg)
{
	char path[320];
	struct dirent *entry;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/" BY_UID "/%u", top, reader);

	own_dir dir = open_list(AT_FDCWD, path);

	for (int seen = 0; dir && !rc && seen < RUNDIR_MAX && (entry = readdir(dir)); seen++)
		rc = entry->d_name[0] == '.' ? 0 : fn(arg, entry->d_name);
	return rc < 0 ? rc : 0;
}

static void tidy_one(int top, int parent, const char *name)
{
	own_dir dir = open_list(parent, name);
	struct dirent *entry;

	for (int seen = 0; dir && seen < RUNDIR_MAX && (entry = readdir(dir)); seen++)
		if (entry->d_name[0] != '.' && faccessat(top, entry->d_name, F_OK, 0) &&
		    errno == ENOENT)
			unlinkat(dirfd(dir), entry->d_name, 0);
}

void rundir_index_tidy(int top)
{
	own_dir all = open_list(top, BY_UID);
	struct dirent *entry;

	for (int seen = 0; all && seen < RUNDIR_MAX && (entry = readdir(all)); seen++)
		if (entry->d_name[0] != '.')
			tidy_one(top, dirfd(all), entry->d_name);
}
