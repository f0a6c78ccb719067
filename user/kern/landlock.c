/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock: a domain that grants what the policy allows. Its rules only add on the way down, so
 * what a rule takes away below an allowed directory is left to mounts. The
 * domain itself refuses every change of mounts, in any user namespace, and ptrace of what is outside
 * it: with that the root, memory and descriptors of others of the same user, which have no masks.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/confine.h"
#include "kern/confine_plan.h"
#include "kern/entries.h"

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE /* ABI 3 */
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

/* The attributes of ABI 6, which Debian 12's headers do not have; earlier kernels take them where they are
 * zero. */
struct ruleset_attr {
	uint64_t handled_access_fs, handled_access_net, scoped;
};
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define SCOPE_SIGNAL (1ULL << 1)

#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define MAKES                                                           \
	(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |   \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |   \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
	 LANDLOCK_ACCESS_FS_MAKE_SYM)
#define WRITES                                                               \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |     \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | MAKES | LANDLOCK_ACCESS_FS_REFER | \
	 LANDLOCK_ACCESS_FS_TRUNCATE)
/* What may be granted on anything but a directory. */
#define OF_FILES                                                      \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	 LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)

struct domain {
	const struct confine_opts *opts;
	char *what;
	int ruleset;
	uint64_t handled;
};

int confine_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

static uint64_t access_of(unsigned int rights)
{
	return (rights & FILE_READ ? READS : 0) |
	       (rights & FILE_EXEC ? LANDLOCK_ACCESS_FS_EXECUTE : 0) |
	       (rights & FILE_WRITE ? WRITES : 0);
}

/* A right that only directories have is refused on anything else. */
static int add_rule(const struct domain *d, int fd, uint64_t access, bool directory)
{
	const struct landlock_path_beneath_attr attr = {
		.allowed_access = access & d->handled & (directory ? ~0ULL : OF_FILES),
		.parent_fd = fd,
	};

	return (int)syscall(SYS_landlock_add_rule, d->ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr,
			    0);
}

static int grant(struct domain *d, const char *path, size_t len, uint64_t access, bool optional)
{
	char name[PATH_MAX];
	own_fd fd = -1;
	struct stat st;

	if (len >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return mounts_fail(d->what, "Landlock rule on '%.80s'", path);
	}
	memcpy(name, path, len);
	name[len] = '\0';
	fd = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && optional)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return mounts_fail(d->what, "open '%.90s'", name);
	if (add_rule(d, fd, access, S_ISDIR(st.st_mode)) < 0)
		return mounts_fail(d->what, "Landlock rule on '%.80s'", name);
	return 0;
}

/* ---- directories whose entries are granted one by one --------------------------------------- */

static bool is_frozen(const struct confine_opts *opts, const char *path, size_t len)
{
	for (size_t i = 0; i < opts->frozen_count; i++)
		if (opts->frozen[i].len == len && !memcmp(opts->frozen[i].path, path, len))
			return true;
	return false;
}

struct frozen {
	struct domain *domain;
	int fd;
	const struct file_rule *around; /* what holds for entries without a rule */
	const struct file_rule *below;	/* the rules below it … */
	size_t below_count;		/* … are a row of them */
	char path[PATH_MAX];		/* of the directory, with a '/' behind it */
	size_t len;
};

static void find_below(struct frozen *f, const struct file_policy *policy)
{
	size_t end = 0;

	f->below = policy->rules;
	for (size_t i = 0; i < policy->count; i++) {
		if (policy->rules[i].reach == FILE_ANYWHERE ||
		    strncmp(policy->rules[i].path, f->path, f->len) != 0)
			continue;
		if (!end)
			f->below = &policy->rules[i];
		end = i + 1;
	}
	f->below_count = end ? (size_t)(policy->rules + end - f->below) : 0;
}

static const struct file_rule *rule_of(const struct frozen *f, const char *name)
{
	for (size_t i = 0; i < f->below_count; i++)
		if (f->below[i].reach == FILE_OBJECT && !strcmp(f->below[i].path + f->len, name))
			return &f->below[i];
	return f->around;
}

static int grant_entry(void *arg, const char *name, unsigned char type)
{
	struct frozen *f = arg;
	size_t len = f->len + strlen(name);
	const struct file_rule *r = rule_of(f, name);
	own_fd fd = -1;
	struct stat st;

	if (type == DT_LNK)
		return 0; /* where it leads is what counts */
	if (len >= sizeof(f->path)) {
		errno = ENAMETOOLONG;
		return mounts_fail(f->domain->what, "Landlock rule on '%.80s'", name);
	}
	memcpy(f->path + f->len, name, len - f->len + 1);
	if (!r || !r->rights || is_frozen(f->domain->opts, f->path, len))
		return 0;
	fd = openat(f->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	/* It is what it was when it was listed, or the kernel knows better. */
	if (fd >= 0 && type != DT_UNKNOWN &&
	    (add_rule(f->domain, fd, access_of(r->rights), type == DT_DIR) == 0))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    add_rule(f->domain, fd, access_of(r->rights), S_ISDIR(st.st_mode)) < 0)
		return mounts_fail(f->domain->what, "Landlock rule on '%.80s'", f->path);
	return 0;
}

/* Names of what is below can be listed; a right on the directory alone does not exist. */
static int grant_frozen(struct domain *d, const struct confine_dir *dir)
{
	const struct file_rule *r = confine_plan_rule(d->opts->policy, dir->path, dir->len);
	struct frozen f; /* not cleared: its pages would have to be copied */
	own_fd fd = -1;

	f.domain = d;
	f.around = r;
	f.len = dir->len;
	memcpy(f.path, dir->path, dir->len);
	f.path[f.len] = '\0';
	f.fd = fd = open(f.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 ||
	    (r && r->rights & FILE_READ && add_rule(d, fd, LANDLOCK_ACCESS_FS_READ_DIR, true) < 0))
		return mounts_fail(d->what, "Landlock rule on '%.80s'", f.path);
	if (f.len > 1)
		f.path[f.len++] = '/';
	find_below(&f, d->opts->policy);
	return entries_each(fd, grant_entry, &f);
}

/* ---- rules ---------------------------------------------------------------------------------- */

/* What the rules above number `index` grant at it already. */
static unsigned int granted_above(const struct confine_opts *opts, size_t index)
{
	const struct file_policy *policy = opts->policy;
	const struct file_policy before = { .rules = policy->rules, .count = index };
	const char *path = policy->rules[index].path;
	size_t len = strlen(path);
	unsigned int rights = 0;

	while (len > 1) {
		const struct file_rule *r = confine_plan_rule(&before, path, len);

		if (!r || strlen(r->path) >= len)
			break;
		len = strlen(r->path);
		if (!is_frozen(opts, r->path, len))
			rights |= r->rights;
	}
	return rights;
}

static int grant_rule(struct domain *d, size_t index)
{
	const struct file_policy *policy = d->opts->policy;
	const struct file_rule *r = &policy->rules[index];
	size_t len = strlen(r->path);

	if (r->reach != FILE_OBJECT || is_frozen(d->opts, r->path, len) ||
	    !(r->rights & ~granted_above(d->opts, index)))
		return 0;
	return grant(d, r->path, len, access_of(r->rights), confine_plan_optional(d->opts, r));
}

/* Device nodes and what a process says about itself in /proc: no file is written there, and a shell
 * without /dev/null is none. */
static int grant_kernel_files(struct domain *d)
{
	static const char *const kernel[] = { "/dev", "/proc" };
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(kernel) / sizeof(*kernel); i++) {
		const struct file_rule *r =
			confine_plan_rule(d->opts->policy, kernel[i], strlen(kernel[i]));

		if (r && r->rights & FILE_READ)
			rc = grant(d, kernel[i], strlen(kernel[i]),
				   READS | LANDLOCK_ACCESS_FS_WRITE_FILE |
					   LANDLOCK_ACCESS_FS_TRUNCATE,
				   true);
	}
	return rc;
}

static int grant_policy(struct domain *d)
{
	const struct confine_opts *opts = d->opts;
	int rc = grant_kernel_files(d);

	for (size_t i = 0; !rc && i < opts->frozen_count; i++)
		rc = grant_frozen(d, &opts->frozen[i]);
	for (size_t i = 0; !rc && i < opts->policy->count; i++)
		rc = grant_rule(d, i);
	return rc;
}

/*
 * Beside the hooks of tier A the domain keeps the tree from mounting anything and from reaching through
 * the processes of others, and decides on no file: what it refused nobody would report, and its walk would
 * be paid for at each open. REFER must be handled, for a domain that does not refuses every move.
 */
static uint64_t rights_handled(const struct confine_opts *opts, int abi)
{
	if (!opts->mounts)
		return LANDLOCK_ACCESS_FS_REFER;
	return READS | (abi < 3 ? WRITES & ~LANDLOCK_ACCESS_FS_TRUNCATE : WRITES) |
	       LANDLOCK_ACCESS_FS_EXECUTE;
}

int confine_ruleset(const struct confine_opts *opts, char what[MOUNTS_WHAT])
{
	int abi = confine_landlock_abi();
	struct domain d = { .opts = opts, .what = what, .handled = rights_handled(opts, abi) };
	struct ruleset_attr attr;
	own_fd ruleset = -1;
	int rc;

	/* Without REFER, ABI 1 refuses every move between directories. */
	if (abi < 2) {
		errno = EOPNOTSUPP;
		return mounts_fail(what, "Landlock");
	}
	attr = (struct ruleset_attr){ .handled_access_fs = d.handled,
				      .scoped = (opts->scoped ? SCOPE_ABSTRACT_UNIX_SOCKET : 0) |
						(opts->signals ? SCOPE_SIGNAL : 0) };
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return mounts_fail(what, "make a Landlock ruleset");
	d.ruleset = ruleset;
	rc = opts->mounts ? grant_policy(&d) : grant(&d, "/", 1, LANDLOCK_ACCESS_FS_REFER, false);
	return rc ? rc : take_fd(&ruleset);
}

int confine_restrict(int ruleset, char what[MOUNTS_WHAT])
{
	return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0
		       ? mounts_fail(what, "enter the Landlock domain")
		       : 0;
}
