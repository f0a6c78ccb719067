/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

/* A tmpfs inode costs about 1 KiB of kernel memory that its size does not count. */
#define BYTES_PER_INODE 2048
#define INODES_MIN 64
#define PAGE_BYTES 4096 /* size=0 would mean no bound */
#define AREAS_MAX 4

/* A directory of the one tmpfs, and what it covers. */
struct area {
	char path[PATH_MAX]; /* canonical */
	int target;	     /* O_PATH of what will be covered */
	int tree;	     /* detached mount of our directory */
	bool workdir;
	struct stat was;
};

/* Something below an area that stays visible. */
struct kept {
	char path[PATH_MAX]; /* canonical */
	int tree;	     /* detached clone */
	struct stat is;
};

struct plan {
	const struct mounts_opts *opts;
	char *what;
	struct area areas[AREAS_MAX];
	unsigned int area_count;
	struct kept kept[MOUNTS_KEEP_MAX];
	unsigned int kept_count;
	struct {
		int tree; /* detached clone */
		struct stat is;
	} binds[MOUNTS_BINDS_MAX];
	unsigned int bind_count;
};

int mounts_fail(char what[MOUNTS_WHAT], const char *fmt, ...)
{
	int error = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, MOUNTS_WHAT, fmt, ap);
	va_end(ap);
	return -error;
}

static int name_of(int fd, char path[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n < 0)
		return -1;
	path[n] = '\0';
	return 0;
}

/* What lies below `area` in canonical path `path`, NULL when it does not lie below. */
static const char *below(const char *area, const char *path)
{
	size_t len = strlen(area);

	return !strncmp(area, path, len) && path[len] == '/' && path[len + 1] ? path + len + 1
									      : NULL;
}

/* The innermost area that `path` lies below. */
static const struct area *area_of(const struct plan *p, const char *path)
{
	const struct area *found = NULL;

	for (unsigned int i = 0; i < p->area_count; i++)
		if (below(p->areas[i].path, path) &&
		    (!found || strlen(p->areas[i].path) > strlen(found->path)))
			found = &p->areas[i];
	return found;
}

/* 0 also when there is nothing to cover: /var/tmp may be a link to /tmp, /dev/shm may not exist. */
static int add_area(struct plan *p, const char *path, bool workdir)
{
	struct area *a = &p->areas[p->area_count];

	a->tree = -1;
	a->workdir = workdir;
	a->target = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->target < 0 && !workdir && errno == ENOENT)
		return 0;
	if (a->target < 0 || fstat(a->target, &a->was) < 0 || name_of(a->target, a->path) < 0)
		return mounts_fail(p->what, "open directory '%.80s'", path);

	for (unsigned int i = 0; i < p->area_count; i++) {
		if (p->areas[i].was.st_ino != a->was.st_ino ||
		    p->areas[i].was.st_dev != a->was.st_dev)
			continue;
		close_fd(&a->target);
		return 0;
	}
	p->area_count++;
	return 0;
}

static int plan_areas(struct plan *p)
{
	static const char *const temporary[] = { "/tmp", "/var/tmp", "/dev/shm" };
	int r = 0;

	for (size_t i = 0; !r && p->opts->private_tmp && i < 3; i++)
		r = add_area(p, temporary[i], false);
	if (!r && p->opts->workdir)
		r = add_area(p, p->opts->workdir, true);
	return r;
}

/* Clones must be taken before the areas are covered. */
static int plan_kept(struct plan *p)
{
	for (unsigned int i = 0; i < MOUNTS_KEEP_MAX && p->opts->keep[i]; i++) {
		struct kept *k = &p->kept[p->kept_count];
		own_fd fd = open(p->opts->keep[i], O_PATH | O_CLOEXEC);

		if (fd < 0 || fstat(fd, &k->is) < 0 || name_of(fd, k->path) < 0)
			return mounts_fail(p->what, "open '%.80s'", p->opts->keep[i]);
		if (!area_of(p, k->path))
			continue;
		k->tree = open_tree(fd, "",
				    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
					    AT_EMPTY_PATH);
		if (k->tree < 0)
			return mounts_fail(p->what, "clone the mounts at '%.80s'",
					   p->opts->keep[i]);
		p->kept_count++;
	}
	return 0;
}

static int configure(int fs, const struct mounts_opts *o)
{
	uint64_t bytes = o->bytes > PAGE_BYTES ? o->bytes : PAGE_BYTES;
	uint64_t inodes = o->inodes ? o->inodes : bytes / BYTES_PER_INODE;
	char text[24];

	if (fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0700", 0) < 0)
		return -1;
	if (!o->bytes)
		return fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);

	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	if (fsconfig(fs, FSCONFIG_SET_STRING, "size", text, 0) < 0)
		return -1;
	if (inodes < INODES_MIN)
		inodes = INODES_MIN;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)inodes);
	if (fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", text, 0) < 0)
		return -1;
	return fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

static int make_tmpfs(struct plan *p)
{
	own_fd fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0 || configure(fs, p->opts) < 0)
		return mounts_fail(p->what, "make a tmpfs");
	fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return fd < 0 ? mounts_fail(p->what, "mount a tmpfs") : fd;
}

/* Temporary directories are everybody's, the working directory is the run user's. */
static int dress(const struct plan *p, const struct area *a, int dirfd, const char *name)
{
	if (!a->workdir)
		return fchmodat(dirfd, name, 01777, 0);
	return fchownat(dirfd, name, p->opts->uid, p->opts->gid, 0);
}

/*
 * One directory of the tmpfs an area, as a detached mount. Before 6.15 only an attached mount can be
 * cloned, so the tmpfs itself goes onto the first area and stays there, covered.
 */
static int split(struct plan *p, int tmpfs)
{
	if (move_mount(tmpfs, "", p->areas[0].target, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return mounts_fail(p->what, "mount a tmpfs on '%.80s'", p->areas[0].path);

	for (unsigned int i = 0; i < p->area_count; i++) {
		char name[2] = { (char)('0' + i) };

		if (mkdirat(tmpfs, name, 0700) < 0 || dress(p, &p->areas[i], tmpfs, name) < 0)
			return mounts_fail(p->what, "make the directory for '%.80s'",
					   p->areas[i].path);
		p->areas[i].tree = open_tree(tmpfs, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
		if (p->areas[i].tree < 0)
			return mounts_fail(p->what, "clone the tmpfs for '%.80s'",
					   p->areas[i].path);
	}
	return 0;
}

/* The directory that holds the last component of `rest` below dirfd, made as far as it is missing. */
static int make_parents(int dirfd, const char *rest, const char **last)
{
	int fd = openat(dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *slash;

	while (fd >= 0 && (slash = strchr(rest, '/'))) {
		char name[NAME_MAX + 1];
		own_fd parent = fd;

		fd = -1;
		if (slash - rest > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, rest, (size_t)(slash - rest));
		name[slash - rest] = '\0';
		if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
			return -1;
		fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rest = slash + 1;
	}
	*last = rest;
	return fd;
}

/* Mounts `tree` at a path below an area, whose parents and mount point may have to be made first. */
static int graft(struct plan *p, const struct area *area, const char *path, int tree,
		 const struct stat *is)
{
	const char *last;
	own_fd root = open(area->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	own_fd parent = make_parents(root, below(area->path, path), &last);
	int r;

	if (parent < 0)
		return mounts_fail(p->what, "make the way to '%.80s'", path);
	r = S_ISDIR(is->st_mode) ? mkdirat(parent, last, 0755)
				 : mknodat(parent, last, S_IFREG | 0644, 0);
	if ((r < 0 && errno != EEXIST) ||
	    move_mount(tree, "", parent, last, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return mounts_fail(p->what, "mount '%.80s'", path);
	return 0;
}

static int cover(struct plan *p, struct area *a)
{
	const struct area *outer = area_of(p, a->path);

	/* A working directory below /tmp: what it covered is itself out of sight by now. */
	if (outer)
		return graft(p, outer, a->path, a->tree, &a->was);
	if (move_mount(a->tree, "", a->target, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return mounts_fail(p->what, "mount a tmpfs on '%.80s'", a->path);
	return 0;
}

/* From the outside in, or the outer one hides the inner: each area, then what stays visible in it.
 * The working directory, if there is one, is the last area. */
static int cover_all(struct plan *p)
{
	int r = 0;

	for (unsigned int i = 0; !r && i < p->area_count; i++) {
		struct area *a = &p->areas[i];

		r = cover(p, a);
		for (unsigned int k = 0; !r && k < p->kept_count; k++)
			if (area_of(p, p->kept[k].path) == a)
				r = graft(p, a, p->kept[k].path, p->kept[k].tree, &p->kept[k].is);
	}
	return r;
}

static int clone_source(struct plan *p, const struct mounts_bind *b, struct stat *is)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOSUID };
	own_fd fd = open(b->source, O_PATH | O_CLOEXEC);
	own_fd tree = -1;

	if (fd < 0 || fstat(fd, is) < 0)
		return mounts_fail(p->what, "open '%.80s'", b->source);
	tree = open_tree(fd, "",
			 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
	if (b->read_only)
		attr.attr_set |= MOUNT_ATTR_RDONLY;
	if (tree < 0 ||
	    mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return mounts_fail(p->what, "clone the mounts at '%.80s'", b->source);
	return take_fd(&tree);
}

/* The source is looked up before anything covers it: clones first, then all into place. */
static int place_bind(struct plan *p, const struct mounts_bind *b, int tree, const struct stat *is)
{
	const struct area *area = area_of(p, b->target);

	if (area)
		return graft(p, area, b->target, tree, is);
	if (move_mount(tree, "", AT_FDCWD, b->target, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return mounts_fail(p->what, "mount '%.40s' on '%.60s'", b->source, b->target);
	return 0;
}

static int clone_sources(struct plan *p)
{
	for (size_t i = 0; i < p->opts->bind_count; i++) {
		p->binds[i].tree = clone_source(p, &p->opts->binds[i], &p->binds[i].is);
		if (p->binds[i].tree < 0)
			return p->binds[i].tree;
		p->bind_count++;
	}
	return 0;
}

static int place_binds(struct plan *p)
{
	int r = 0;

	for (unsigned int i = 0; !r && i < p->bind_count; i++)
		r = place_bind(p, &p->opts->binds[i], p->binds[i].tree, &p->binds[i].is);
	return r;
}

static int cover_areas(struct plan *p)
{
	own_fd tmpfs = make_tmpfs(p);
	int r = 0;

	if (tmpfs < 0)
		return tmpfs;
	if (p->area_count > 1) {
		r = split(p, tmpfs);
	} else {
		p->areas[0].tree = take_fd(&tmpfs);
		if (dress(p, &p->areas[0], p->areas[0].tree, ".") < 0)
			return mounts_fail(p->what, "set the owner of '%.80s'", p->areas[0].path);
	}
	return r < 0 ? r : cover_all(p);
}

static int apply(struct plan *p)
{
	int r = plan_areas(p);

	if (!r)
		r = plan_kept(p);
	if (!r)
		r = clone_sources(p);
	if (!r && p->area_count)
		r = cover_areas(p);
	return r ? r : place_binds(p);
}

static void plan_done(struct plan *p)
{
	for (unsigned int i = 0; i < p->area_count; i++) {
		close_fd(&p->areas[i].target);
		close_fd(&p->areas[i].tree);
	}
	for (unsigned int i = 0; i < p->kept_count; i++)
		close_fd(&p->kept[i].tree);
	for (unsigned int i = 0; i < p->bind_count; i++)
		close_fd(&p->binds[i].tree);
}

static int carry_out(struct plan *p)
{
	/* What is made on the way to something is for whoever may go there. */
	mode_t before = umask(0);
	int r = apply(p);

	umask(before);
	plan_done(p);
	return r;
}

int mounts_apply(const struct mounts_opts *opts, char what[MOUNTS_WHAT])
{
	/* Not on the stack, which the compiler touches page by page: few of them are ever used. */
	struct plan *p =
		mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char cwd[PATH_MAX];
	bool known = getcwd(cwd, sizeof(cwd)) && cwd[0] == '/';
	int r;

	if (p == MAP_FAILED)
		return mounts_fail(what, "make room for the plan of mounts");
	if (unshare(CLONE_NEWNS) < 0)
		return mounts_fail(what, "make a private mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return mounts_fail(what, "make all mounts private");

	p->opts = opts;
	p->what = what;
	r = carry_out(p);
	munmap(p, sizeof(*p));
	if (r < 0)
		return r;
	if (opts->proc &&
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return mounts_fail(what, "mount a new procfs on /proc");

	/* The old directory would be a way back under the cover. */
	if ((!known || chdir(cwd) < 0) && chdir("/") < 0)
		return mounts_fail(what, "enter /");
	return 0;
}
