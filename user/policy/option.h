/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option: the table of run options, from which parsing, usage, completions and the man page derive.
 *
 * Pure. Unknown options, units, duplicates, values out of range are errors that name the option
 * (and the nearest known one). Parsing stops at the first non-option or after "--".
 */
#ifndef POLICY_OPTION_H
#define POLICY_OPTION_H

#include "policy/spec.h"

enum option_group {
	GROUP_LIMITS,
	GROUP_FILES,
	GROUP_NETWORK,
	GROUP_ENVIRONMENT,
	GROUP_IDENTITY,
	GROUP_IO,
	GROUP_RESULT,
	GROUP_LIFE,
	GROUP_POLICY,
	GROUP__COUNT,
};
#define OPTION_GROUPS_ALL ((1U << GROUP__COUNT) - 1)

struct option {
	const char *name; /* "--timeout"; NULL: a letter only */
	char letter;	  /* 't' or 0 */
	const char *arg;  /* "DUR", NULL: a flag; "[X]" optional, then only as --name=X */
	enum option_group group;
	bool repeat;	     /* may be given more than once */
	const char *refused; /* not in this build: the one line that says so; NULL otherwise */
	/* Takes over `value` (NULL: none given). Its error text begins with the value. */
	int (*set)(struct spec *spec, const struct option *option, const char *value,
		   struct err *err);
	int aux;	  /* limit id, offset in struct spec and the like, for shared setters */
	const char *help; /* one line */
};
extern const struct option run_options[];
extern const size_t run_option_count;

const char *option_group_name(enum option_group group);
/* "--timeout", or "-c" for an option that is a letter only. `buf` holds 3 bytes. */
const char *option_label(const struct option *option, char *buf);

/* Parses args[0..] into spec; *used is the number of arguments consumed (the command starts
 * there). `groups` is a bit mask of 1 << enum option_group that this command accepts. */
int option_parse(struct spec *spec, unsigned int groups, int argc, char *const *argv, int *used,
		 struct err *err);

#endif
