/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/own.h"
#include "kern/confine.h"
#include "kern/confine_plan.h"
#include "kern/entries.h"

struct freezing {
	struct confine_opts *opts;
	const struct confine_who *who;
	size_t entries; /* in all that is frozen so far */
};

static bool member(const struct confine_who *who, gid_t gid)
{
	bool found = who->gid == gid;

	for (size_t i = 0; !found && i < who->group_count; i++)
		found = who->groups[i] == gid;
	return found;
}

/* Whether the command could read an object if nothing denied it. What takes its place is taken to be
 * as open, or as closed, as it is. An ACL may say anything: yes. */
static bool readable(const struct confine_who *who, const char *path)
{
	struct stat st;
	mode_t bits;

	if (lstat(path, &st) < 0)
		return errno != ENOENT;
	if (lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0)
		return true;
	bits = st.st_uid == who->uid	? st.st_mode >> 6
	       : member(who, st.st_gid) ? st.st_mode >> 3
					: st.st_mode;
	return bits & 05;
}

static bool is_frozen(const struct confine_opts *opts, const char *path, size_t len)
{
	for (size_t i = 0; i < opts->frozen_count; i++)
		if (opts->frozen[i].len == len && !memcmp(opts->frozen[i].path, path, len))
			return true;
	return false;
}

static int count_one(void *arg, const char *name, unsigned char type)
{
	(void)name;
	(void)type;
	return ++*(size_t *)arg > CONFINE_ENTRIES_MAX ? -E2BIG : 0;
}

/* One directory on the way. */
static bool freeze_one(struct freezing *f, const char *path, size_t len)
{
	const struct file_rule *r = confine_plan_rule(f->opts->policy, path, len);
	char name[PATH_MAX];
	size_t count = 0;
	own_fd fd = -1;

	if (is_frozen(f->opts, path, len))
		return true;
	if (!r || r->rights & FILE_WRITE || f->opts->frozen_count == CONFINE_FROZEN_MAX ||
	    len >= sizeof(name))
		return false;
	memcpy(name, path, len);
	name[len] = '\0';
	fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || entries_each(fd, count_one, &count) < 0 ||
	    f->entries + count > CONFINE_ENTRIES_MAX)
		return false;
	f->entries += count;
	f->opts->frozen[f->opts->frozen_count++] = (struct confine_dir){ path, len };
	return true;
}

/* All directories above `path`, or none. */
static bool freeze_way(struct freezing *f, const char *path)
{
	size_t before = f->opts->frozen_count, entries = f->entries;
	bool done = freeze_one(f, "/", 1);

	for (size_t i = 1; done && path[i]; i++)
		if (path[i] == '/')
			done = freeze_one(f, path, i);
	if (!done) {
		f->opts->frozen_count = before;
		f->entries = entries;
	}
	return done;
}

void confine_freeze(struct confine_opts *opts, const struct confine_who *who,
		    struct confine_limits *limits)
{
	struct freezing f = { .opts = opts, .who = who };

	opts->frozen_count = 0;
	limits->replaceable = 0;
	*limits->first_replaceable = '\0';
	for (size_t i = 0; i < opts->policy->count; i++) {
		const struct file_rule *r = &opts->policy->rules[i];

		if (!confine_plan_masked(opts->policy, i) || !readable(who, r->path) ||
		    (opts->landlock && freeze_way(&f, r->path)))
			continue;
		if (!limits->replaceable++)
			snprintf(limits->first_replaceable, sizeof(limits->first_replaceable), "%s",
				 r->written);
	}
}
