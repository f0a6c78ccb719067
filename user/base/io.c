/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/own.h"

int io_write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd wait = { .fd = fd, .events = POLLOUT };

			if (poll(&wait, 1, -1) < 0 && errno != EINTR)
				return -errno;
		} else if (n < 0 && errno != EINTR) {
			return -errno;
		} else if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

ssize_t io_send_nowait(int socket, const void *bytes, size_t len)
{
	return send(socket, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t io_read_file(int dirfd, const char *path, char *buf, size_t size)
{
	own_fd fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;

	do {
		if (len == size)
			return -EFBIG;
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
	} while (n);

	if (len == size)
		return -EFBIG;
	if (len && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return (ssize_t)len;
}

int io_write_file(int dirfd, const char *path, const char *text)
{
	own_fd fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

int io_read_u64(int dirfd, const char *path, uint64_t *value)
{
	char text[32];
	ssize_t n = io_read_file(dirfd, path, text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (!strcmp(text, "max")) {
		*value = UINT64_MAX;
		return 0;
	}
	return num_u64(text, value);
}

static int replace(int dirfd, const char *tmp, const char *name, const void *bytes, size_t len,
		   mode_t mode)
{
	own_fd fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = io_write_all(fd, bytes, len);
	if (!r && fchmod(fd, mode ? mode : 0600) < 0)
		r = -errno;
	if (!r && renameat(dirfd, tmp, dirfd, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, tmp, 0);
	return r;
}

static bool replaceable(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISREG(st.st_mode) ||
	       S_ISLNK(st.st_mode);
}

int io_replace_file(int dirfd, const char *name, const void *bytes, size_t len, mode_t mode,
		    struct err *err)
{
	const char *base = strrchr(name, '/');
	char tmp[PATH_MAX];
	int n, r;

	if (!replaceable(dirfd, name))
		return err_set(err, -EEXIST, "write '%s', which is not a regular file", name);

	base = base ? base + 1 : name;
	n = snprintf(tmp, sizeof(tmp), "%.*s.%.200s.%d", (int)(base - name), name, base,
		     (int)getpid());
	r = n >= (int)sizeof(tmp) ? -ENAMETOOLONG : replace(dirfd, tmp, name, bytes, len, mode);
	if (r == -EEXIST) {
		/* Left by a process of this pid that died in between. */
		unlinkat(dirfd, tmp, 0);
		r = replace(dirfd, tmp, name, bytes, len, mode);
	}
	return r < 0 ? err_set(err, r, "write '%s'", name) : 0;
}

static int make_dir(const char *path, mode_t mode)
{
	struct stat st;

	if (!mkdir(path, mode) || errno == EEXIST) {
		if (stat(path, &st) < 0)
			return -errno;
		return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	}
	/* A read-only parent may still hold the directory. */
	return errno == EROFS && !access(path, F_OK) ? 0 : -errno;
}

int io_mkdir_p(const char *path, mode_t mode, struct err *err)
{
	char part[PATH_MAX];
	size_t len = strlen(path);
	int r;

	if (path[0] != '/' || len >= sizeof(part))
		return err_set(err, path[0] == '/' ? -ENAMETOOLONG : -EINVAL, "make directory '%s'",
			       path);

	for (size_t i = 1; i <= len; i++) {
		if ((path[i] != '/' && path[i]) || path[i - 1] == '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		r = make_dir(part, mode);
		if (r < 0)
			return err_set(err, r, "make directory '%s'", part);
	}
	return 0;
}

/*
 * io_remove_tree: what a hostile command left behind, removed without trusting any of it.
 *
 * A tree may be deeper than PATH_MAX, the stack or the descriptor table allow. So nothing descends:
 * one directory is emptied, and a directory found two levels down is first moved up beside its
 * parent. Two descriptors do for any depth, and links and mounts are never entered.
 */
#define REMOVE_PASSES \
	(1 << 20) /* a pass takes one level off; more means that somebody still adds */

struct removal {
	int top;	  /* the directory that is emptied */
	uint64_t moved;	  /* names given to directories moved up */
	uint64_t removed; /* entries gone in this pass */
	int failed;	  /* first error of this pass */
};

static void note(struct removal *rm, int r)
{
	if (!r)
		rm->removed++;
	else if (!rm->failed)
		rm->failed = r;
}

/* The directory `name` of dirfd, readable and writable for its owner, or negative errno: -EXDEV
 * at a mount. */
static int dir_open(int dirfd, const char *name)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH,
	};
	own_fd path = (int)syscall(SYS_openat2, dirfd, name, &how, sizeof(how));
	char self[40];
	struct stat st;
	int fd;

	if (path < 0 || fstat(path, &st) < 0)
		return -errno;

	/* chmod(2) by name would follow a link put there meanwhile. */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
	if ((st.st_mode & 0700) != 0700 && chmod(self, (st.st_mode & 07777) | 0700) < 0)
		return -errno;
	fd = openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static DIR *dir_stream(int dirfd, const char *name, int *r)
{
	int fd = dir_open(dirfd, name);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	*r = fd < 0 ? fd : dir ? 0 : -errno;
	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

static bool dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static int remove_dir(int dirfd, const char *name)
{
	return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int remove_file(int dirfd, const char *name)
{
	return unlinkat(dirfd, name, 0) < 0 ? -errno : 0;
}

/* Moves `name` of dirfd beside its parent. An empty directory already there is replaced,
 * anything else makes the next name be tried. */
static int move_up(struct removal *rm, int dirfd, const char *name)
{
	char fresh[32];
	int r, opened;

	for (;;) {
		snprintf(fresh, sizeof(fresh), ".moved-%llu", (unsigned long long)rm->moved++);
		r = renameat(dirfd, name, rm->top, fresh) < 0 ? -errno : 0;
		if (r == -EACCES) {
			/* ".." of what moves is rewritten: it must be writable. */
			opened = dir_open(dirfd, name);
			if (opened >= 0)
				close(opened);
			r = renameat(dirfd, name, rm->top, fresh) < 0 ? -errno : 0;
		}
		if (r != -ENOTEMPTY && r != -EEXIST && r != -ENOTDIR)
			return r;
	}
}

/* Empties one directory of the top one, then removes it. */
static void empty_dir(struct removal *rm, const char *name)
{
	own_dir dir = NULL;
	struct dirent *entry;
	int r = remove_dir(rm->top, name);

	if (r != -ENOTEMPTY && r != -EEXIST && r != -EACCES) {
		note(rm, r);
		return;
	}
	dir = dir_stream(rm->top, name, &r);
	if (!dir) {
		note(rm, r);
		return;
	}

	while ((entry = readdir(dir))) {
		if (dots(entry->d_name))
			continue;
		r = entry->d_type == DT_DIR ? -EISDIR : remove_file(dirfd(dir), entry->d_name);
		if (r == -EISDIR)
			r = remove_dir(dirfd(dir), entry->d_name);
		if (r == -ENOTEMPTY || r == -EEXIST)
			r = move_up(rm, dirfd(dir), entry->d_name);
		note(rm, r);
	}
	note(rm, remove_dir(rm->top, name));
}

/* One pass over the top directory. Returns whether it found anything. */
static bool pass(struct removal *rm, DIR *dir)
{
	struct dirent *entry;
	bool found = false;

	rm->removed = 0;
	rm->failed = 0;
	rewinddir(dir);
	while ((entry = readdir(dir))) {
		int r;

		if (dots(entry->d_name))
			continue;
		found = true;
		r = entry->d_type == DT_DIR ? -EISDIR : remove_file(rm->top, entry->d_name);
		if (r == -EISDIR)
			empty_dir(rm, entry->d_name);
		else
			note(rm, r);
	}
	return found;
}

static int remove_tree_in(int parent, const char *name)
{
	struct removal rm = { .top = -1 };
	own_dir dir = NULL;
	int r = remove_file(parent, name);

	if (r != -EISDIR)
		return r == -ENOENT ? 0 : r;
	dir = dir_stream(parent, name, &r);
	if (!dir)
		return r;

	rm.top = dirfd(dir);
	for (int passes = 0; pass(&rm, dir); passes++) {
		if (!rm.removed)
			return rm.failed;
		if (passes == REMOVE_PASSES)
			return -ENOTEMPTY;
	}
	return remove_dir(parent, name);
}

int io_remove_tree(int dirfd, const char *name)
{
	const char *slash = strrchr(name, '/');
	own_str above = slash ? strndup(name, (size_t)(slash + 1 - name)) : strdup(".");
	own_fd parent = -1;

	if (!above)
		return -ENOMEM;
	parent = openat(dirfd, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return errno == ENOENT ? 0 : -errno;
	return remove_tree_in(parent, slash ? slash + 1 : name);
}
