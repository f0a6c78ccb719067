/* SPDX-License-Identifier: Apache-2.0 */
/* learn_places: which places cover what a command needed. Pure; part of learn. */
#ifndef POLICY_LEARN_PLACES_H
#define POLICY_LEARN_PLACES_H

#include "policy/learn.h"

struct learn_place {
	const char *path; /* its first `len` bytes; of a need */
	size_t len;
	bool write;
	size_t needs; /* that it covers */
};

enum learn_reason {
	LEARN_DENIED, /* the base denies it: `rule` */
	LEARN_HELD,   /* the base takes it away from what it grants around it: `rule` */
	LEARN_KERNEL, /* a device, or the kernel's own files */
	LEARN_WHOLE,  /* names come and go in a directory that nobody gets as a whole */
	LEARN_NAME,   /* a profile cannot say it */
};

struct learn_refusal {
	const struct learn_need *need;
	enum learn_reason reason;
	const struct file_rule *rule;
};

struct learn_places {
	struct learn_place *places; /* sorted; none lies in another of the same kind */
	size_t count;
	struct learn_refusal *refusals;
	size_t refused;
};

/* The directory around `path` that is the run's own: /tmp and the like; NULL: none. */
const char *learn_private_top(const struct learn_opts *opts, const char *path);

/* `needs`: sorted, each path once; borrowed. 0 or -ENOMEM; `out` is to be done either way. */
int learn_places_find(const struct learn_opts *opts, const struct learn_need *needs, size_t count,
		      struct learn_places *out);
void learn_places_done(struct learn_places *places);

#endif
