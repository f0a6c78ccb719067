/* SPDX-License-Identifier: Apache-2.0 */
/* attached: what is on record of a tree that ran before its keeper did. Pure. */
#ifndef RUN_ATTACHED_H
#define RUN_ATTACHED_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

struct result_attach { /* a tree that ran already; as it was when it came in */
	pid_t pid;     /* 0: launched by us */
	uint64_t processes, threads;
	uint64_t foreign;     /* right below it, of other sandboxes: they stay there */
	uint64_t descriptors; /* open in all of them; UINT64_MAX: not counted */
	uint64_t took_ns;
};

/* "attached" of the result, a new reference: null for a run that was launched. */
json_t *attached_json(const struct result_attach *attached);

#endif
