/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rows: making, finding and deleting the row of a task, finding that of its sandbox. No program
 * goes to `tasks` but through here, or the filter would miscount.
 */
#ifndef ROWS_BPF_H
#define ROWS_BPF_H

#include "filter.bpf.h"

static __always_inline struct sbx_task *row_find(__u64 key)
{
	return filter_has(key) ? bpf_map_lookup_elem(&tasks, &key) : NULL;
}

static __always_inline struct sbx_task *row_at(const struct task_struct *task)
{
	return row_find((__u64)(long)task);
}

/* Enough of the address to tell two processes that had the same number one after the other. */
static __always_inline __u32 signal_bits(const struct signal_struct *sig)
{
	return address_bits((__u64)(long)sig);
}

/* Only where there is none: -EEXIST when somebody was first. */
static __always_inline int row_add(__u64 key, const struct sbx_task *row)
{
	int rc;

	filter_add(key, 1);
	rc = bpf_map_update_elem(&tasks, &key, row, BPF_NOEXIST);
	if (rc)
		filter_add(key, -1);
	return rc;
}

/* In the place of whatever row is there; but whether there was one, the filter must know. */
static __always_inline int row_put(__u64 key, const struct sbx_task *row)
{
	bool replaces;
	/* An int: before d7ba4cc900bf (6.4) the upper half of what the helper returns is
	 * undefined. */
	int rc;

	filter_add(key, 1);
	rc = bpf_map_update_elem(&tasks, &key, row, BPF_NOEXIST);
	replaces = rc == -EEXIST;
	if (replaces)
		rc = bpf_map_update_elem(&tasks, &key, row, BPF_EXIST);
	if (rc || replaces)
		filter_add(key, -1);
	return rc;
}

/* 0 for one caller only: whoever deleted the row. */
static __always_inline int row_delete(__u64 key)
{
	int rc = bpf_map_delete_elem(&tasks, &key);

	if (!rc)
		filter_add(key, -1);
	return rc;
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

/* -EEXIST: the tree is just being adopted (adopt.bpf.c), and this child was, before its fork was through. */
static __always_inline int row_put_child(struct task_struct *child, const struct sbx_task *row)
{
	int rc = row_add((__u64)(long)child, row);
	struct sbx_task *there = rc == -EEXIST ? row_at(child) : NULL;

	if (rc != -EEXIST || (there && there->start_ns == child->start_boottime))
		return rc;
	return row_put((__u64)(long)child, row);
}

static __always_inline struct sbx_sandbox *sandbox_of(__u64 id)
{
	return id ? bpf_map_lookup_elem(&sandboxes, &id) : NULL;
}

#endif
