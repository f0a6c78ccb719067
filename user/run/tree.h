/* SPDX-License-Identifier: Apache-2.0 */
/* tree: process records from the ring of events. Telemetry: what was dropped is counted, nothing is decided here. */
#ifndef RUN_TREE_H
#define RUN_TREE_H

#include "run/result.h"
#include "sbx/kern.h"

struct tree {
	struct process_record *records;
	size_t count, size;
	uint64_t dropped; /* records that did not fit */
	uint32_t *index;  /* open addressing by pid: position + 1 of its newest record */
};

void tree_event(struct tree *t, const struct sbx_event *event);
/* Hands the records to the result. */
void tree_finish(struct tree *t, struct result *r);
void tree_done(struct tree *t);

#endif
