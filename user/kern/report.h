/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: tier B's denials of files and sockets. Mounts, Landlock, the seccomp filter and permissions refuse
 * without a word; the kernel half notes what the system calls of a sandbox returned (bpf/report), and what
 * the policy explains of it is a denial. Advisory: decides nothing, and knows only paths and numbers as the
 * programs wrote them.
 */
#ifndef KERN_REPORT_H
#define KERN_REPORT_H

#include "kern/denials.h"
#include "kern/unixes.h"
#include "policy/files.h"

#define REPORT_PATH 4096

/* From now on the refusals of sandbox `id` are noted, as long as *link stays open: the caller owns it,
 * and the hook is attached while any keeper has one. -EOPNOTSUPP on machines other than x86-64. */
int report_open(struct kern *k, uint64_t id, int *link, struct err *err);

/*
 * The rule that explains a refusal, and the path it holds for; NULL when none does: then the
 * permissions of the file refused, or the path cannot be known (relative to a descriptor, or to a
 * directory the process changed to). `start` is the directory the command started in. Links are
 * resolved as far as the kernel has them at hand: never waits for a file system. Writing to what is not there
 * becomes SBX_ACT_CREATE in `denial`.
 */
const struct file_rule *report_blame(const struct file_policy *policy, struct denial *denial,
				     const char *start, char path[REPORT_PATH]);

/* What was in force on the sockets of a tree. */
struct report_net {
	bool filter;		      /* the table of kern/seccomp */
	bool scoped;		      /* no abstract unix sockets of others */
	const struct unixes *covered; /* NULL: none */
};

/* Whether that explains a refusal of the network: a kind of socket, or a unix socket, whose path as it is
 * covered is put into `path`; else others refused, or nobody listened. */
bool report_blames_net(const struct report_net *net, const struct denial *denial, const char *start,
		       char path[REPORT_PATH]);

#endif
