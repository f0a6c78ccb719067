/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn: a profile out of what a command needed. Pure: whoever calls watched it, and says what the paths are.
 *
 * The smallest sensible places: a file alone where one is written, the directory where several are or where names
 * come and go; never "/", a home, or a directory of the system as a whole. What the base profile denies stays denied
 * and what it holds back stays so: neither that, nor anything above it, is learnt; a comment says what was asked for.
 */
#ifndef POLICY_LEARN_H
#define POLICY_LEARN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "policy/files.h"

#define LEARN_NEEDS_MAX 65536

struct learn_need {
	const char *path;   /* canonical: no link on the way to it */
	unsigned int right; /* enum file_right, one or more */
	bool entry;	    /* the name comes or goes: the directory around it is written */
	bool exists;	    /* by now */
	bool directory;
};

struct learn_opts {
	const struct file_policy *policy; /* of the base, on this host */
	const char *home, *directory;	  /* as in paths_context */
	const char *base;		  /* its name, for Extends= */
	const char *command;		  /* for the comment, one line */
	bool private_tmp;		  /* what is in /tmp and the like is the run's own */
};

struct learn_counts {
	size_t needs, places, refused;
};

struct learn;

/* Borrows all that `opts` points to. NULL: out of memory. */
struct learn *learn_new(const struct learn_opts *opts);
void learn_free(struct learn *l);

/* Whether the base withholds any of `rights` on a canonical path; what it grants need not be added. */
bool learn_wanted(const struct learn *l, const char *path, unsigned int rights);
/* Copied. -ENOSPC beyond LEARN_NEEDS_MAX different ones. */
int learn_add(struct learn *l, const struct learn_need *need, struct err *err);
/* The profile's text, after the last need. `by`: who saw it all, for the comment; `unknown`: acts of which nobody
 * could tell on what. Counts places and what was refused. */
int learn_text(struct learn *l, const char *by, size_t unknown, struct buf *out,
	       struct learn_counts *counts, struct err *err);

/* `path` as a word of a profile, quoted where it must be; -EINVAL when a profile cannot say it. */
int learn_word(const char *path, struct buf *out);

#endif
