/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files: a file policy as a value. Pure.
 *
 * Wishes are what options and profile lines say. user/kern/paths resolves them against this host
 * (links, patterns, homes, what exists) into rules; files_compile settles which rule holds on each
 * path, and the rows that result are what both tiers enforce: tier A publishes them to the kernel
 * half (kern/files), tier B turns them into mounts and Landlock (kern/confine).
 *
 * The nearest rule above an object decides, with all three rights. A policy always has a rule on
 * "/": where nobody said one, everything that no rule names is allowed.
 */
#ifndef POLICY_FILES_H
#define POLICY_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum file_right {
	FILE_READ = 1 << 0,  /* content and directory listings */
	FILE_WRITE = 1 << 1, /* content, create, remove, rename, link, truncate, metadata, xattr */
	FILE_EXEC = 1 << 2,  /* exec and executable mappings */
};
#define FILE_ALL (FILE_READ | FILE_WRITE | FILE_EXEC)

#define FILES_RULES_MAX 16384
#define FILES_ENTRY_NAME_MAX 31 /* bytes of a name that is held before it exists */

/* As said. FILE_RO: read and execute; FILE_RW: all three; FILE_NOEXEC takes execute away from what
 * holds there otherwise; FILE_DENY: nothing. */
enum file_verb { FILE_RO, FILE_RW, FILE_NOEXEC, FILE_DENY };

/* Later levels win on the same path; inside one level a literal path wins over a pattern, and two
 * different verbs of the same path are an error that names both (noexec joins with ro and rw). */
enum file_level { FILE_LEVEL_BASE, FILE_LEVEL_PROFILE, FILE_LEVEL_COMMAND_LINE = 100 };

struct file_wish {
	enum file_verb verb;
	char *path; /* as written, without the '-': may begin with ~, have patterns, be "**\/NAME" */
	bool optional;	    /* '-': fine when absent */
	char *origin;	    /* "--deny", "profile default, line 12", "/etc/sbx/profiles.d/ci:7:3" */
	unsigned int level; /* enum file_level; each profile that is extended counts one less */
};

enum file_reach {
	FILE_OBJECT,   /* it exists: it and all below it */
	FILE_ENTRY,    /* it does not, its parent does: whatever gets that name there */
	FILE_ANYWHERE, /* path is a NAME: every entry of that name */
	FILE_ABSENT,   /* optional, and neither it nor its parent exists: nothing to enforce now */
};

struct file_rule {
	char *path; /* canonical: absolute, no link, no "." or ".."; FILE_ANYWHERE: the name alone */
	char *written; /* as it was said */
	char *origin;
	enum file_verb verb;
	enum file_reach reach;
	unsigned int rights; /* enum file_right, after files_compile */
	unsigned int level;
	bool optional;
	bool pattern;	/* found by a pattern, not named */
	bool directory; /* FILE_OBJECT: what it is */
	bool implied;	/* "/" that nobody named */
};

struct file_policy {
	struct file_rule *rules; /* after files_compile: sorted by path, one a path, "/" first, then
				  * FILE_ANYWHERE ones last */
	size_t count;
};

void file_wish_done(struct file_wish *wish);
void file_policy_done(struct file_policy *policy);
/* Takes over what *rule owns. -ENOSPC beyond FILES_RULES_MAX. */
int file_policy_add(struct file_policy *policy, struct file_rule *rule, struct err *err);

/* Settles levels, patterns and contradictions; computes rights; drops what lost. */
int files_compile(struct file_policy *policy, struct err *err);

/* The rule that decides for a canonical path (as if no link or mount stood in between); never NULL
 * after files_compile. */
const struct file_rule *files_decide(const struct file_policy *policy, const char *path);

/* Whether any rule takes a right away from somewhere below `path` (a directory) that holds there. */
bool files_narrowed_below(const struct file_policy *policy, const char *path);

const char *file_verb_name(enum file_verb verb);    /* "ro" "rw" "noexec" "deny" */
const char *files_rights_text(unsigned int rights); /* "read, write, execute", "nothing" */

#endif
