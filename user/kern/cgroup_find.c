/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup_find.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/own.h"

struct search {
	const char *name;
	char *path;
	size_t size;
	unsigned int seen;
};

/* Whether the group is below `path`; leaves its path there. Else `path` is as it was. */
static bool find_below(struct search *s, int parent, const char *leaf, unsigned int depth)
{
	int fd = openat(parent, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	own_dir dir = fd < 0 ? NULL : fdopendir(fd);
	size_t len = strlen(s->path);
	struct dirent *entry;

	if (!dir)
		close_fd(&fd);
	while (dir && s->seen < CGROUP_FIND_GROUPS && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		s->seen++;
		if ((size_t)snprintf(s->path + len, s->size - len, "/%s", entry->d_name) <
			    s->size - len &&
		    (!strcmp(entry->d_name, s->name) ||
		     (depth < CGROUP_FIND_DEPTH &&
		      find_below(s, dirfd(dir), entry->d_name, depth + 1))))
			return true;
		s->path[len] = 0;
	}
	return false;
}

int cgroup_find(const char *name, char *path, size_t size, uint64_t *id)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct search s = { .name = name, .path = path, .size = size };
	char line[4096];
	struct mntent mount;
	struct stat st;
	bool found = false;

	while (mounts && !found && getmntent_r(mounts, &mount, line, sizeof(line))) {
		if (strcmp(mount.mnt_type, "cgroup2") || strlen(mount.mnt_dir) >= size)
			continue;
		strcpy(path, mount.mnt_dir);
		found = find_below(&s, AT_FDCWD, mount.mnt_dir, 0);
	}
	if (mounts)
		endmntent(mounts);
	if (!found || stat(path, &st))
		return -ENOENT;
	*id = st.st_ino;
	return 0;
}
