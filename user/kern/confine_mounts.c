/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order that works. Every tree that becomes a mount of its own is cloned first, as the host has
 * it: a clone keeps the host's flags, so a read-only mount of the host below a writable directory
 * stays one. Then "/" gets its flags, with all below. Then the clones and masks are mounted, outer ones
 * first, each onto what the path leads to by then.
 *
 * Masks are clones of two objects of one tmpfs, an empty directory and an empty file, both of mode 000
 * on a read-only mount: root without capabilities cannot open them either. A mask with something
 * allowed below is a directory of its own that holds nothing but the way there, mode 0111. Before 6.15
 * only what is attached can be cloned: the tmpfs is mounted on /proc, and then covered by /proc.
 *
 * Others may rename meanwhile: each mount point is looked up without following links, and must be the
 * object that was cloned.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/confine.h"
#include "kern/confine_plan.h"

#define MASK_DIRECTORY "d"
#define MASK_FILE "f"

struct work {
	const struct confine_opts *opts;
	struct confine_plan plan;
	char *what;
	int tmpfs; /* of the masks, -1: none needed */
};

static void path_of(const struct confine_node *n, char path[PATH_MAX])
{
	size_t len = n->len < PATH_MAX ? n->len : PATH_MAX - 1;

	memcpy(path, n->path, len);
	path[len] = '\0';
}

static int look_up(const char *path)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

static uint64_t flags_of(unsigned int rights)
{
	return MOUNT_ATTR_NOSUID | (rights & FILE_WRITE ? 0 : MOUNT_ATTR_RDONLY) |
	       (rights & FILE_EXEC ? 0 : MOUNT_ATTR_NOEXEC);
}

static int set_flags(int fd, const char *path, unsigned int flags, uint64_t set)
{
	struct mount_attr attr = { .attr_set = set };

	return mount_setattr(fd, path, flags, &attr, sizeof(attr));
}

static int mount_id(int fd, const char *path, int flags, uint64_t *id)
{
	struct statx sx;

	if (statx(fd, path, flags | AT_STATX_DONT_SYNC, STATX_MNT_ID, &sx) < 0)
		return -1;
	if (!(sx.stx_mask & STATX_MNT_ID)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	*id = sx.stx_mnt_id;
	return 0;
}

/* What a node is, the first time one looks; an O_PATH descriptor, or -errno. -ENOENT is fine: it is
 * skipped. */
static int see(struct work *w, struct confine_node *n, const char *path)
{
	own_fd fd = look_up(path);
	struct stat st;

	if (fd < 0 && errno == ENOENT && n->optional) {
		n->skipped = true;
		return -ENOENT;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return mounts_fail(w->what, "open '%.90s'", path);
	n->seen = true;
	n->dev = st.st_dev;
	n->ino = st.st_ino;
	n->directory = S_ISDIR(st.st_mode);
	/* A device is written on a read-only mount as well, and /dev/ptmx looks for pts beside its mount. */
	n->skipped = n->rights & FILE_WRITE && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
	return take_fd(&fd);
}

/* The clone of a node, before anything is covered. A mask needs none. */
static int take(struct work *w, struct confine_node *n)
{
	char path[PATH_MAX];
	own_fd fd = -1;

	if (n->mask && !n->way)
		return 0;
	path_of(n, path);
	fd = see(w, n, path);
	if (fd < 0 || n->skipped)
		return n->skipped ? 0 : fd;
	if (n->mask)
		return 0;
	n->tree = open_tree(fd, "",
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
	if (n->tree < 0 ||
	    set_flags(n->tree, "", AT_EMPTY_PATH | AT_RECURSIVE, flags_of(n->rights)) < 0)
		return mounts_fail(w->what, "clone the mounts at '%.90s'", path);
	return 0;
}

static bool reached_through_mask(const struct work *w, const struct confine_node *n)
{
	const struct confine_node *above = n->above < 0 ? NULL : &w->plan.nodes[n->above];

	return above && above->mask && !above->skipped;
}

/* ---- masks ---------------------------------------------------------------------------------- */

static void name_of_way(const struct work *w, const struct confine_node *n, char name[16])
{
	snprintf(name, 16, "w%zu", (size_t)(n - w->plan.nodes));
}

static bool is_way(const struct confine_node *n)
{
	return n->mask && n->way && n->directory;
}

/* The mount point of `n` in the directory that stands for the mask above it. */
static int make_way(struct work *w, const struct confine_node *n)
{
	const struct confine_node *mask = &w->plan.nodes[n->above];
	char path[PATH_MAX + 16], name[16];
	size_t len, at;

	name_of_way(w, mask, name);
	len = (size_t)snprintf(path, sizeof(path), "%s%.*s", name, (int)(n->len - mask->len),
			       n->path + mask->len);
	if (len >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (at = strlen(name) + 1; at < len; at++) {
		if (path[at] != '/')
			continue;
		path[at] = '\0';
		if (mkdirat(w->tmpfs, path, 0111) < 0 && errno != EEXIST)
			return -1;
		path[at] = '/';
	}
	if (n->directory)
		return mkdirat(w->tmpfs, path, 0111) < 0 && errno != EEXIST ? -1 : 0;
	return mknodat(w->tmpfs, path, S_IFREG, 0) < 0 && errno != EEXIST ? -1 : 0;
}

static int fill_tmpfs(struct work *w)
{
	char name[16];

	if (mkdirat(w->tmpfs, MASK_DIRECTORY, 0) < 0 ||
	    mknodat(w->tmpfs, MASK_FILE, S_IFREG, 0) < 0)
		return -1;
	for (size_t i = 0; i < w->plan.count; i++) {
		const struct confine_node *n = &w->plan.nodes[i];

		name_of_way(w, n, name);
		if (!n->skipped && is_way(n) && mkdirat(w->tmpfs, name, 0111) < 0)
			return -1;
		if (!n->skipped && reached_through_mask(w, n) && make_way(w, n) < 0)
			return -1;
	}
	return set_flags(w->tmpfs, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY);
}

/* Where root keeps its capabilities, mode 000 alone would not keep it out. */
static int disown(const struct work *w)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP,
				   .userns_fd = (uint64_t)w->opts->foreign };

	if (!w->opts->foreign)
		return 0;
	return mount_setattr(w->tmpfs, "", AT_EMPTY_PATH, &attr, sizeof(attr));
}

static bool masks_anything(const struct work *w)
{
	for (size_t i = 0; i < w->plan.count; i++)
		if (w->plan.nodes[i].mask && !w->plan.nodes[i].skipped)
			return true;
	return false;
}

static int make_masks(struct work *w)
{
	own_fd fs = -1;
	mode_t before;
	int rc;

	if (!masks_anything(w))
		return 0;
	fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0111", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "size", "64k", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return mounts_fail(w->what, "make a tmpfs for masks");
	w->tmpfs = fsmount(fs, FSMOUNT_CLOEXEC,
			   MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (w->tmpfs < 0)
		return mounts_fail(w->what, "mount a tmpfs for masks");
	before = umask(0);
	rc = fill_tmpfs(w);
	umask(before);
	if (rc < 0 || disown(w) < 0 ||
	    move_mount(w->tmpfs, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return mounts_fail(w->what, "make masks");
	return 0;
}

static int clone_mask(struct work *w, const struct confine_node *n)
{
	char name[16];

	if (is_way(n))
		name_of_way(w, n, name);
	else
		snprintf(name, sizeof(name), n->directory ? MASK_DIRECTORY : MASK_FILE);
	return open_tree(w->tmpfs, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

/* ---- putting them in place ------------------------------------------------------------------ */

static bool is_what_was_seen(const struct work *w, const struct confine_node *n, int target)
{
	struct stat st;

	/* Over a mask the mount point is ours; the first covers the tmpfs. */
	if (n == w->plan.nodes || reached_through_mask(w, n))
		return true;
	return fstat(target, &st) == 0 && st.st_dev == n->dev && st.st_ino == n->ino;
}

/* Where a node goes: what its path leads to by now. */
static int find_target(struct work *w, struct confine_node *n, const char *path)
{
	own_fd target = -1;

	if (!n->seen)
		return see(w, n, path);
	target = look_up(path);
	if (target < 0)
		return mounts_fail(w->what, "open '%.90s'", path);
	if (!is_what_was_seen(w, n, target)) {
		errno = ESTALE;
		return mounts_fail(w->what, "'%.80s' was replaced meanwhile", path);
	}
	return take_fd(&target);
}

static int put(struct work *w, struct confine_node *n)
{
	char path[PATH_MAX];
	own_fd target = -1, tree = take_fd(&n->tree);

	path_of(n, path);
	target = find_target(w, n, path);
	if (target < 0)
		return n->skipped ? 0 : target;
	if (n->mask)
		tree = clone_mask(w, n);
	if (tree < 0 || mount_id(tree, "", AT_EMPTY_PATH, &n->mount_id) < 0 ||
	    move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return mounts_fail(w->what, "%s '%.90s'", n->mask ? "mask" : "mount", path);
	return 0;
}

/* Each path leads to the mount that was made for it, and to no other. */
static int verify(struct work *w)
{
	char path[PATH_MAX];
	struct statvfs fs;
	uint64_t id;

	for (size_t i = 0; i < w->plan.count; i++) {
		const struct confine_node *n = &w->plan.nodes[i];

		if (n->skipped)
			continue;
		path_of(n, path);
		if (mount_id(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, &id) < 0)
			return mounts_fail(w->what, "look at the mount on '%.80s'", path);
		if (id != n->mount_id) {
			errno = ESTALE;
			return mounts_fail(w->what, "the mount on '%.80s' is not there", path);
		}
	}
	if (statvfs("/", &fs) < 0)
		return mounts_fail(w->what, "look at the mount on /");
	if ((!(w->plan.root & FILE_WRITE) && !(fs.f_flag & ST_RDONLY)) ||
	    (!(w->plan.root & FILE_EXEC) && !(fs.f_flag & ST_NOEXEC))) {
		errno = ESTALE;
		return mounts_fail(w->what, "the flags of the mount on / are not in force");
	}
	return 0;
}

static int mount_all(struct work *w)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < w->plan.count; i++)
		rc = take(w, &w->plan.nodes[i]);
	if (rc)
		return rc;
	if (set_flags(AT_FDCWD, "/", AT_RECURSIVE, flags_of(w->plan.root)) < 0)
		return mounts_fail(w->what, "set the flags of all mounts");
	rc = make_masks(w);
	for (size_t i = 0; !rc && i < w->plan.count; i++)
		if (!w->plan.nodes[i].skipped)
			rc = put(w, &w->plan.nodes[i]);
	return rc ? rc : verify(w);
}

static int check_directory(const struct confine_opts *opts, const char *cwd, char *what)
{
	const struct file_rule *r = confine_plan_rule(opts->policy, cwd, strlen(cwd));

	if (!r || r->rights & FILE_READ)
		return 0;
	errno = EACCES;
	return mounts_fail(what, "the policy denies the working directory '%.60s'", cwd);
}

static int apply(struct work *w, const struct confine_opts *opts)
{
	char cwd[PATH_MAX];
	int rc = 0;

	if (!getcwd(cwd, sizeof(cwd)) || cwd[0] != '/')
		return mounts_fail(w->what, "find the name of the working directory");
	rc = check_directory(opts, cwd, w->what);
	if (!rc)
		rc = confine_plan(&w->plan, opts);
	if (rc == -E2BIG)
		return mounts_fail(w->what, "the policy needs more than %d mounts",
				   CONFINE_MOUNTS_MAX);
	if (!rc)
		rc = mount_all(w);
	for (size_t i = 0; i < w->plan.count; i++)
		close_fd(&w->plan.nodes[i].tree);
	close_fd(&w->tmpfs);
	/* The old directory is on the old mounts. */
	if (!rc && chdir(cwd) < 0)
		rc = mounts_fail(w->what, "enter '%.90s'", cwd);
	return rc;
}

int confine_mounts(const struct confine_opts *opts, char what[MOUNTS_WHAT])
{
	size_t bytes = CONFINE_MOUNTS_MAX * sizeof(struct confine_node);
	struct work w = { .opts = opts, .what = what, .tmpfs = -1 };
	void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (room == MAP_FAILED)
		return mounts_fail(what, "make room for the plan of mounts");
	w.plan.nodes = room;
	rc = apply(&w, opts);
	munmap(room, bytes);
	return rc;
}
