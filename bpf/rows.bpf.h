/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rows: finding the row of a task, and that of its sandbox.
 */
#ifndef ROWS_BPF_H
#define ROWS_BPF_H

#include "maps.bpf.h"

static __always_inline struct sbx_task *row_at(const struct task_struct *task)
{
	__u64 key = (__u64)(long)task;

	return bpf_map_lookup_elem(&tasks, &key);
}

/* Enough of the address to tell two processes that had the same number one after the other. */
static __always_inline __u32 signal_bits(const struct signal_struct *sig)
{
	__u32 bits;

	/* A move of its own: the verifier takes half a pointer for a number, but does not store
	 * it. */
	asm volatile("%0 = %1" : "=w"(bits) : "w"((__u32)(long)sig));
	return bits;
}

static __always_inline long row_delete(const struct task_struct *task)
{
	__u64 key = (__u64)(long)task;

	return bpf_map_delete_elem(&tasks, &key);
}

/*
 * Whether a row is of this task, not of a dead one at the same address. The start time tells;
 * only between de_thread(), which gives an executing thread its leader's start time, and the
 * exec hook, which rewrites the row, does it differ: there the process id, which never changes,
 * tells. An embryo has neither yet.
 */
static __always_inline bool row_is_of(const struct sbx_task *row, const struct task_struct *task)
{
	return row->start_ns == task->start_boottime || row->tgid == (__u32)task->tgid ||
	       row->flags & SBX_TASK_EMBRYO;
}

/* The label of a task, NULL when it has none. */
static __always_inline struct sbx_task *row_of(const struct task_struct *task)
{
	struct sbx_task *row = row_at(task);

	return row && row_is_of(row, task) ? row : NULL;
}

/* What is known of a task only after copy_process(). */
static __always_inline void row_fill(struct sbx_task *row, const struct task_struct *task)
{
	row->start_ns = task->start_boottime;
	row->pid = task->pid;
	row->tgid = task->tgid;
	row->exec_id = task->self_exec_id;
}

/* An embryo that runs by now: its fork hook was skipped. */
static __always_inline void row_complete(struct sbx_task *row, const struct task_struct *task)
{
	row_fill(row, task);
	row->signal = signal_bits(task->signal);
	row->flags &= ~SBX_TASK_EMBRYO;
}

static __always_inline struct sbx_sandbox *sandbox_of(__u64 id)
{
	return id ? bpf_map_lookup_elem(&sandboxes, &id) : NULL;
}

#endif
