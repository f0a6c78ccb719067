/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"

/* Inode numbers that the kernel fixes: of the initial cgroup namespace, and of a hierarchy's root. */
#define INIT_CGROUP_NS 0xEFFFFFFBUL
#define HIERARCHY_ROOT 1UL

static const struct {
	const char *name, *capability;
} kinds[CGROUP_KINDS] = {
	[CGROUP_MEMORY] = { "memory", "memory_cap" },
	[CGROUP_PIDS] = { "pids", "pids_cap" },
	[CGROUP_CPU] = { "cpu", "cpu_cap" },
};

const char *cgroup_kind_name(enum cgroup_kind kind)
{
	return kinds[kind].name;
}

const char *cgroup_kind_capability(enum cgroup_kind kind)
{
	return kinds[kind].capability;
}

static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static bool in_init_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/cgroup", &st) && st.st_ino == INIT_CGROUP_NS;
}

/* Bounded by buf's own maximum; a host with containers has thousands of mounts. */
static int read_mountinfo(struct cgroup_place *place)
{
	own_fd fd = -1;
	struct buf text = { 0 };
	char piece[16384];
	ssize_t n;
	int r = 0;

	if (place->mountinfo)
		return 0;
	fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (!r && (n = read(fd, piece, sizeof(piece))) > 0)
		r = buf_add(&text, piece, (size_t)n);
	if (!r && !text.data)
		r = -ENODATA;
	if (r < 0)
		buf_done(&text);
	else
		place->mountinfo = text.data;
	return r;
}

/* The two places where distributions mount it, whole, are recognised without reading every mount. */
static int find_own(struct cgroup_place *place)
{
	static const char *const usual[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct cgroup_paths *own = &place->own;
	bool init_namespace = in_init_namespace();
	struct stat st;
	int r = cgroup_paths_name(place->proc_cgroup, NULL, own->name);

	for (size_t i = 0; !r && init_namespace && i < 2; i++) {
		if (!is_cgroup2(usual[i]) || stat(usual[i], &st) < 0 || st.st_ino != HIERARCHY_ROOT)
			continue;
		strcpy(own->mount, usual[i]);
		strcpy(own->root, "/");
		place->whole = true;
		return cgroup_paths_resolve(own);
	}
	if (!r)
		r = read_mountinfo(place);
	if (!r)
		r = cgroup_paths_find(place->mountinfo, NULL, own);
	if (!r && !is_cgroup2(own->mount)) /* something is mounted over it */
		r = -ENOENT;
	place->whole = !r && init_namespace && !strcmp(own->root, "/");
	return r;
}

static bool pid1_is_systemd(void)
{
	char comm[32];

	return !access("/run/systemd/system", F_OK) &&
	       io_read_file(AT_FDCWD, "/proc/1/comm", comm, sizeof(comm)) > 0 &&
	       !strcmp(comm, "systemd");
}

/* systemd marks what it delegates; without it, a group that belongs to a plain user was given to them. */
static bool delegated(const char *dir)
{
	static const char *const marks[] = { "trusted.delegate", "user.delegate" };
	struct stat st;
	char value;

	for (size_t i = 0; i < 2; i++)
		if (getxattr(dir, marks[i], &value, 1) == 1 && value == '1')
			return true;
	return geteuid() != 0 && !stat(dir, &st) && st.st_uid == geteuid();
}

static bool has_v1(const struct cgroup_place *place)
{
	char name[CGROUP_PATH_MAX];

	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++)
		if (!cgroup_paths_name(place->proc_cgroup, kinds[kind].name, name))
			return true;
	return false;
}

bool cgroup_place_made_by_us(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	/* systemd's units, which could be called anything, all have a suffix. */
	return slash && !strncmp(slash + 1, CGROUP_PREFIX, strlen(CGROUP_PREFIX)) &&
	       !strchr(slash + 1, '.');
}

static enum cgroup_driver choose(const struct cgroup_place *place, const char *parent)
{
	if (has_v1(place))
		return CGROUP_HYBRID; /* whoever made it: v2 carries no limit there */
	/* A run inside a run stays inside: a scope beside the outer one would escape its limits. */
	if (delegated(place->base.dir) ||
	    (place->systemd && cgroup_place_made_by_us(place->base.dir)))
		return CGROUP_DELEGATED;
	return place->systemd && !parent ? CGROUP_SYSTEMD_SCOPE : CGROUP_RAW_V2;
}

static int set_base(struct cgroup_place *place, const char *parent, struct err *err)
{
	struct cgroup_paths *base = &place->base, top = place->own;
	int r;

	*base = place->own;
	if (!parent) {
		if (!strcmp(cgroup_paths_leaf(base), CGROUP_LEAF))
			cgroup_paths_up(base);
		return 0;
	}

	if (strstr(parent, ".."))
		return err_say(err, ERR_VALIDATION, -EINVAL,
			       "cgroup parent '%s': a path below '%s' without '..' is wanted",
			       parent, base->mount);
	strcpy(top.name, top.root);
	r = cgroup_paths_child(base, &top, parent + strspn(parent, "/"));
	for (size_t n = strlen(base->name); !r && n > 1 && base->name[n - 1] == '/'; n--)
		base->name[n - 1] = '\0';
	if (!r)
		r = cgroup_paths_resolve(base);
	if (r < 0)
		return err_set(err, r, "cgroup parent '%s'", parent);
	if (access(base->dir, F_OK) < 0)
		return err_set(err, -errno, "cgroup parent '%s'", base->dir);
	return 0;
}

int cgroup_place_find(struct cgroup_place *place, const char *parent, struct err *err)
{
	ssize_t n;
	int r;

	memset(place, 0, offsetof(struct cgroup_place, proc_cgroup));
	n = io_read_file(AT_FDCWD, "/proc/self/cgroup", place->proc_cgroup,
			 sizeof(place->proc_cgroup));
	if (n < 0)
		return err_set(err, (int)n, "read '/proc/self/cgroup'");
	r = find_own(place);
	if (r == -EXDEV)
		return err_cannot(
			err, "tree_kill",
			"our own cgroup '%s' cannot be seen in the cgroup2 mount here: start "
			"the container with its own cgroup namespace (docker: --cgroupns=private)",
			place->own.name);
	if (r < 0)
		return err_cannot(
			err, "tree_kill",
			"no cgroup2 file system is mounted here (%s): mount -t cgroup2 none "
			"/sys/fs/cgroup, or beside cgroup v1 on /sys/fs/cgroup/unified",
			strerror(-r));

	place->systemd = !has_v1(place) && pid1_is_systemd();
	r = set_base(place, parent, err);
	if (r < 0)
		return r;
	place->container = !place->whole && !strcmp(place->base.name, place->base.root);
	place->driver = choose(place, parent);
	return 0;
}

void cgroup_place_done(struct cgroup_place *place)
{
	free(take_ptr(&place->mountinfo));
}

int cgroup_place_v1(struct cgroup_place *place, enum cgroup_kind kind, struct cgroup_paths *own)
{
	int r = cgroup_paths_name(place->proc_cgroup, kinds[kind].name, own->name);

	if (!r)
		r = read_mountinfo(place);
	return r ? r : cgroup_paths_find(place->mountinfo, kinds[kind].name, own);
}
