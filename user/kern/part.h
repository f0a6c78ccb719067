/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part: what of the kernel half comes with the first policy that needs it: loaded, attached, tried on children, pinned,
 * and there as long as the half. What the kernel refused it would refuse again: that is noted in the half's facts.
 */
#ifndef KERN_PART_H
#define KERN_PART_H

#include "kern/half.h"

#define PART_HOOKS_MAX 32

struct sbx_bpf;
struct bpf_link;

enum part_where { PART_ON_ROOT, PART_BY_LSM, PART_ON_GROUP };

struct part_hook {
	const char *program;
	enum part_where
		where; /* the root of control groups, LSM, or a run's own group, by whoever makes that */
	const char *lsm_hook;	/* of a kernel that has it; NULL: wherever LSM attaches */
	unsigned int arguments; /* only where the hook has so many; 0: any */
	bool optional;		/* its absence is no fault */
};

struct part_loading {
	const struct part *part;
	struct kern *k;
	bool lsm; /* with the hooks of LSM */
	struct sbx_bpf *skel;
	struct bpf_link *links[PART_HOOKS_MAX];
};

struct part {
	const char *what; /* "file hooks" */
	const struct part_hook *hooks;
	size_t hook_count;
	enum half_pin first,
		end; /* its pins; the last one marks it whole, without it the others are leftovers */
	enum half_pin shared[2]; /* maps of the half that it uses */
	const char *map;	 /* another one of its own that is not pinned, or NULL */
	bool without_lsm;	 /* is of use where the hooks of LSM do not load */
	size_t state, detail;	 /* where in struct sbx_facts its outcome is */
	bool (*try)(struct part_loading *l, char detail[SBX_DETAIL]);
};

/* Takes the exclusive lock. -ESTALE: the half was unloaded meanwhile. -EOPNOTSUPP: the hooks do not refuse here; `err`
 * and the half's facts say why. */
int part_load(const struct part *part, struct kern *k, struct err *err);
/* Whether it is there, after a try if nobody tried; else `detail` says why not. */
bool part_available(const struct part *part, struct kern *k, char detail[SBX_DETAIL]);

#endif
