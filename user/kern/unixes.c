/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/unixes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

#define TABLE "/proc/self/net/unix"
#define COVER "/dev/null"
#define LINES_MAX 65536

/* The table lists one network namespace; daemons that have one of their own are known by name. */
static const char *const known[] = {
	"/run/dbus/system_bus_socket",
	"/run/systemd/private",
	"/run/systemd/notify",
	"/run/systemd/journal/socket",
	"/run/systemd/journal/stdout",
	"/run/systemd/resolve/io.systemd.Resolve",
	"/run/docker.sock",
	"/run/containerd/containerd.sock",
	"/run/podman/podman.sock",
	"/run/crio/crio.sock",
	"/run/buildkit/buildkitd.sock",
	"/run/libvirt/libvirt-sock",
	"/run/snapd.socket",
	"/run/nscd/socket",
	"/run/lxd.socket",
	"/var/lib/lxd/unix.socket",
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

/* ---- which there are -------------------------------------------------------------------------- */

static int note(struct unixes *out, const char *path)
{
	char **paths;

	if (out->count == LINES_MAX)
		return -E2BIG;
	paths = reallocarray(out->paths, out->count + 1, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	out->paths = paths;
	out->paths[out->count] = strdup(path);
	return out->paths[out->count] ? (out->count++, 0) : -ENOMEM;
}

/* "Num: RefCount Protocol Flags Type St Inode Path"; a name without a '/' at its begin is abstract, or relative to
 * a directory that nobody knows. */
static int note_line(struct unixes *out, char *line)
{
	char *path = strstr(line, " /");

	line[strcspn(line, "\n")] = '\0';
	return path ? note(out, path + 1) : 0;
}

static int read_table(struct unixes *out)
{
	own_file table = fopen(TABLE, "re");
	own_str line = NULL;
	size_t room = 0;
	int rc = table ? 0 : -errno;

	while (rc == 0 && getline(&line, &room, table) > 0)
		rc = note_line(out, line);
	return rc == 0 && ferror(table) ? -EIO : rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_kept(const struct stat *st, const struct stat *kept, size_t kept_count)
{
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].st_ino == st->st_ino && kept[i].st_dev == st->st_dev)
			return true;
	return false;
}

/* Connected sockets have the path of the one that accepted them: many lines, one path. What is gone from
 * the file system has no way in. */
static void thin_out(struct unixes *out, const struct stat *kept, size_t kept_count)
{
	size_t all = out->count;
	const char *last = "";
	struct stat st;

	qsort(out->paths, all, sizeof(*out->paths), by_name);
	out->count = 0;
	for (size_t i = 0; i < all; i++) {
		char *path = out->paths[i];

		if (strcmp(path, last) != 0 && stat(path, &st) == 0 && S_ISSOCK(st.st_mode) &&
		    !is_kept(&st, kept, kept_count))
			last = out->paths[out->count++] = path;
		else
			free(path);
	}
}

static size_t stat_kept(struct stat *all, char *const *kept, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += stat(kept[i], &all[n]) == 0;
	return n;
}

int unixes_find(struct unixes *out, char *const *kept, size_t kept_count, struct err *err)
{
	own_mem struct stat *all = calloc(kept_count + 1, sizeof(*all));
	int rc = all ? 0 : -ENOMEM;

	*out = (struct unixes){ 0 };
	if (rc == 0)
		rc = read_table(out);
	for (size_t i = 0; rc == 0 && i < KNOWN; i++)
		rc = note(out, known[i]);
	if (rc == 0)
		thin_out(out, all, stat_kept(all, kept, kept_count));
	if (rc == -E2BIG || out->count > UNIXES_MAX)
		return err_cannot(err, "network_restriction",
				  "this host has too many unix sockets to cover each");
	return rc < 0 ? err_set(err, rc, "list the unix sockets of this host") : 0;
}

void unixes_done(struct unixes *unixes)
{
	for (size_t i = 0; i < unixes->count; i++)
		free(unixes->paths[i]);
	free(unixes->paths);
	*unixes = (struct unixes){ 0 };
}

/* ---- covering them ---------------------------------------------------------------------------- */

static int cover(const char *path, char what[MOUNTS_WHAT])
{
	own_fd target = open(path, O_PATH | O_CLOEXEC), tree = -1;
	struct stat st;

	/* Whoever is root may still be kept out, by FUSE for one: then nothing can be mounted there either. */
	if (target < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES
			       ? 0
			       : mounts_fail(what, "open '%.90s'", path);
	if (fstat(target, &st) < 0)
		return mounts_fail(what, "look at '%.90s'", path);
	if (!S_ISSOCK(st.st_mode))
		return 0;
	tree = open_tree(AT_FDCWD, COVER, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0 ||
	    move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return mounts_fail(what, "cover '%.90s'", path);
	if (stat(path, &st) < 0 || S_ISSOCK(st.st_mode)) {
		errno = ESTALE;
		return mounts_fail(what, "'%.80s' is not covered", path);
	}
	return 0;
}

int unixes_cover(const struct unixes *unixes, char what[MOUNTS_WHAT])
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < unixes->count; i++)
		rc = cover(unixes->paths[i], what);
	return rc;
}
