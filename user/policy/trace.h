/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: what a program did with files, out of the text that strace(1) writes of it. Pure.
 *
 * The trace is one file for all processes (-f -o FILE), with the paths of descriptors (-y). It is read twice, since
 * a child is seen before its parent's fork returns: trace_forks learns who is whose child, trace_line follows
 * working directories and tells the acts. Only what succeeded counts: what failed for another reason than policy
 * needs no rule.
 */
#ifndef POLICY_TRACE_H
#define POLICY_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#define TRACE_FILTER_MAX 1024
#define TRACE_PENDING_MAX (1 << 20) /* bytes of system calls that have begun and not returned */

struct trace_act {
	unsigned int right; /* enum file_right, one or more */
	bool entry;	    /* creates, removes or renames the name */
	bool resolved;	    /* the path is where the object is; else links may be on the way */
	const char *path;   /* absolute */
};

/* A return other than 0 ends the line and is returned. */
typedef int trace_fn(void *arg, const struct trace_act *act);

struct trace;

/* `directory`: where the first process starts. NULL: out of memory. */
struct trace *trace_new(const char *directory, trace_fn *fn, void *arg);
void trace_free(struct trace *t);

/* One line without its newline, which is changed. 0, or -ENOMEM; lines of another form are passed over. */
int trace_forks(struct trace *t, char *line);
int trace_line(struct trace *t, char *line);

/* Acts whose path could not be told: relative ones of processes that nobody was seen to fork. */
size_t trace_lost(const struct trace *t);

/* What -e takes: "trace=?open,?openat,…". A system call that an architecture lacks is fine. */
void trace_filter(char buf[TRACE_FILTER_MAX]);

#endif
