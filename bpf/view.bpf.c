// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * view: what who looks on is shown.
 *
 * Programs and duties
 *   iter/task view_tasks   one record a tracked thread
 *
 * Reads only. A thread without a row, and one whose record does not fit in the reader's buffer at
 * once, is no error: the first is not ours, the second comes with the next read.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "rows.bpf.h"
#include "sbx/view.h"

SEC("iter/task")
int view_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct sbx_view out = {};
	struct sbx_task *row;

	if (!task)
		return 0;
	row = row_of(task);
	if (!row || !row->sandbox || row->flags & SBX_TASK_GONE)
		return 0;
	out.sandbox = row->sandbox;
	out.depth = row->depth;
	out.start_ns = task->group_leader->start_boottime;
	out.cpu_ns = task->se.sum_exec_runtime;
	out.dead_cpu_ns = task->signal->sum_sched_runtime;
	out.pid = task->pid;
	out.tgid = task->tgid;
	out.ppid = task->real_parent->tgid;
	out.state = task->__state;
	if (task->flags & PF_EXITING)
		out.flags |= SBX_VIEW_EXITING;
	if (row->flags & SBX_TASK_ROOT)
		out.flags |= SBX_VIEW_ROOT;
	__builtin_memcpy(out.comm, task->group_leader->comm, sizeof(out.comm));
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}
