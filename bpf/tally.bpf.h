/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * tally: the counters of a sandbox and of those around it.
 */
#ifndef TALLY_BPF_H
#define TALLY_BPF_H

#include "rows.bpf.h"

/*
 * nest.bpf.c: the sandboxes around one, from the innermost on. Global functions, so that the
 * verifier walks each loop once and not for every path of every hook that gets there.
 */
extern int nest_tally(__u64 id, __s32 threads, __s32 processes, __s32 born, __s32 exits);
extern int nest_depth(__u64 id, __u32 depth);
extern int nest_exec(__u64 id, __u32 n);
extern int nest_policy(__u64 id);
extern int nest_event(__u64 id, struct sbx_event *event, __u32 depth);

/* Two tries: a third CPU that raises it in between has seen more, or loses at most its own step. */
static __always_inline void raise_peak(__u64 *peak, __u64 value)
{
	__u64 old = *(volatile __u64 *)peak;

	if (value <= old || __sync_val_compare_and_swap(peak, old, value) == old)
		return;
	old = *(volatile __u64 *)peak;
	if (value > old)
		__sync_val_compare_and_swap(peak, old, value);
}

/* What happened to a sandbox, for its counters. */
struct tally {
	__s32 threads;	 /* +1, -1 */
	__s32 processes; /* +1, -1 */
	__s32 born;	 /* processes ever: +1, or -1 when a fork failed after all */
	__s32 exits;
};

static __always_inline void tally_one(struct sbx_sandbox *sb, const struct tally *t)
{
	__u64 n = __sync_fetch_and_add(&sb->live, (__s64)t->threads) + t->threads;

	if (t->threads > 0)
		raise_peak(&sb->live_peak, n);
	if (t->processes) {
		n = __sync_fetch_and_add(&sb->live_processes, (__s64)t->processes) + t->processes;
		if (t->processes > 0)
			raise_peak(&sb->live_processes_peak, n);
	}
	if (t->born)
		__sync_fetch_and_add(&sb->processes, (__s64)t->born);
	if (t->exits)
		__sync_fetch_and_add(&sb->exits, (__s64)t->exits);
}

/* Counts for a sandbox and for every one around it. */
static __always_inline void tally_up(struct sbx_sandbox *sb, const struct tally *t)
{
	tally_one(sb, t);
	if (sb->parent)
		nest_tally(sb->parent, t->threads, t->processes, t->born, t->exits);
}

/* Whether the end of this process is the caller's to count; only the first is told so. */
static __always_inline bool death_claim(const struct death *key)
{
	__u32 one = 1;
	/* An int: before d7ba4cc900bf (6.4) the upper half of what the helper returns is
	 * undefined. */
	int rc = bpf_map_update_elem(&deaths, key, &one, BPF_NOEXIST);

	return rc != -EEXIST;
}

/*
 * Removes a row whose task ended unseen, and counts the end that the exit hook did not. That its
 * process ended too is sure when the caller says so, and taken for so when it was the leader's.
 */
static __always_inline void row_retire(__u64 key, const struct sbx_task *row, bool process_gone)
{
	bool process = row->flags & SBX_TASK_PROCESS;
	struct death death = { .signal = row->signal, .tgid = row->tgid };
	__u64 id = row->flags & SBX_TASK_GONE ? 0 : row->sandbox;
	struct tally t = { .threads = -1 };
	struct sbx_sandbox *sb;

	if (row->flags & SBX_TASK_EMBRYO)
		t.processes = t.born = -process;
	else if (process || process_gone)
		t.exits = death_claim(&death);
	if (row_delete(key))
		return;
	t.processes -= t.exits;
	sb = sandbox_of(id);
	if (sb)
		tally_up(sb, &t);
}

/* The same for one that should not be there any more: that is told. */
static __always_inline void row_stale(__u64 key, const struct sbx_task *row, bool process_gone)
{
	STAT_ADD(stale);
	row_retire(key, row, process_gone);
}

#endif
