/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denied: what policy refused to a run, as the record tells it: what was tried, on what, which rule
 * decided, who was first, how often, and the option that would have allowed it.
 */
#ifndef RUN_DENIED_H
#define RUN_DENIED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kern/denials.h"
#include "kern/files.h"
#include "kern/report.h"
#include "policy/files.h"

struct denied_item {
	const char *act; /* "read", "write" … */
	char *object;	 /* path, as good as it is known */
	char *rule;	 /* "deny ~/.ssh (profile default, line 12)" */
	char *hint;	 /* "--ro ~/.ssh", "" when no option helps */
	char *name;	 /* that our resolver gave the address for; NULL: none */
	struct net_address address;
	int error; /* positive errno */
	uint32_t pid;
	char comm[SBX_COMM];
	uint64_t count, first_ns;
	bool syscall; /* seen at a system call's end: advisory */
};

struct denied {
	uint64_t total, dropped; /* acts refused; of those without an item */
	bool incomplete;	 /* acts may have been refused that nobody saw */
	bool from_hook, from_syscall;
	struct denied_item *items; /* owned, oldest first */
	size_t count;
};

struct denied_source {
	const struct file_policy *policy;
	const struct report_net *net; /* tier B, what else is refused without a word */
	const char *directory;	      /* that the command started in */
	const struct files *files;    /* tier A, where everything is seen; NULL: tier B */
};
/* Reads what there is by now. 0 or a negative errno; `out` is valid either way. */
int denied_read(struct denied *out, struct kern *k, uint64_t id,
		const struct denied_source *source);
/* {total, dropped, complete, sources, items} of DESIGN 9, with at most `most` items. New reference, NULL when
 * out of memory. */
json_t *denied_json(const struct denied *denied, size_t most);
json_t *denied_item_json(const struct denied_item *item);
void denied_done(struct denied *denied);

#endif
