/* SPDX-License-Identifier: Apache-2.0 */
#include "run/tree.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/own.h"

#define INDEX_SIZE (2 * RESULT_RECORDS_MAX) /* a power of two */
#define GROW 64

static uint32_t *slot_of(struct tree *t, uint32_t pid)
{
	uint32_t at = (pid * 2654435761u) & (INDEX_SIZE - 1);

	while (t->index[at] && t->records[t->index[at] - 1].pid != pid)
		at = (at + 1) & (INDEX_SIZE - 1);
	return &t->index[at];
}

static struct process_record *add(struct tree *t, const struct sbx_event *e)
{
	struct process_record *r;

	if (t->count == RESULT_RECORDS_MAX)
		return NULL;
	if (t->count == t->size) {
		r = realloc(t->records, (t->size + GROW) * sizeof(*r));
		if (!r)
			return NULL;
		t->records = r;
		t->size += GROW;
	}
	r = &t->records[t->count++];
	*r = (struct process_record){
		.pid = e->pid, .ppid = e->ppid, .exit_code = -1, .signal = -1
	};
	r->started_ns = e->kind == SBX_EVENT_EXIT ? e->start_ns : e->time_ns;
	r->ended_ns = RESULT_NONE;
	*slot_of(t, e->pid) = (uint32_t)t->count;
	return r;
}

/* The live record of a process, made when its fork was not seen. */
static struct process_record *find(struct tree *t, const struct sbx_event *e)
{
	uint32_t *slot = slot_of(t, e->pid);
	struct process_record *r = *slot ? &t->records[*slot - 1] : NULL;

	if (r && (e->kind == SBX_EVENT_FORK || r->ended_ns != RESULT_NONE))
		r = NULL; /* the number was reused: its newest record takes the slot */
	return r ? r : add(t, e);
}

void tree_event(struct tree *t, const struct sbx_event *e)
{
	struct process_record *r;

	if (!t->index)
		t->index = calloc(INDEX_SIZE, sizeof(*t->index));
	r = t->index ? find(t, e) : NULL;
	if (!r) {
		t->dropped += e->kind == SBX_EVENT_EXIT;
		return;
	}
	memcpy(r->comm, e->comm, sizeof(r->comm));
	r->comm[sizeof(r->comm) - 1] = '\0';
	if (e->kind != SBX_EVENT_EXIT)
		return;
	r->ended_ns = e->time_ns;
	if (WIFEXITED(e->status))
		r->exit_code = WEXITSTATUS(e->status);
	else
		r->signal = WTERMSIG(e->status);
}

void tree_finish(struct tree *t, struct result *r)
{
	r->record_count = t->count;
	r->records = take_ptr(&t->records);
	r->records_dropped += t->dropped;
	t->count = t->size = 0;
}

void tree_done(struct tree *t)
{
	free(take_ptr(&t->records));
	free(take_ptr(&t->index));
}
