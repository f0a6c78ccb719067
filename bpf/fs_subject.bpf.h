/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* fs_subject: whose act it is. */
#ifndef FS_SUBJECT_BPF_H
#define FS_SUBJECT_BPF_H

#include "fs_live.bpf.h"
#include "rows.bpf.h"

/*
 * The kernel acts for a mount, not for the task: overlayfs on its layers, whose own objects have
 * been judged. A core dump and a worker of io_uring have other credentials too; the personalities
 * of io_uring, which would make it the task's choice, are refused.
 */
static __always_inline bool for_a_mount(const struct task_struct *task)
{
	return task->cred != task->real_cred && !(task->flags & PF_IO_WORKER) &&
	       !task->signal->core_state;
}

/* The sandbox to be asked, 0: none. */
static __always_inline __u64 fs_subject(void)
{
	__u64 *live = fs_live_count();
	struct task_struct *task;
	struct sbx_task *row;

	if (!live || !*live)
		return 0;
	task = bpf_get_current_task_btf();
	row = row_of(task);
	return row && row->sandbox && !for_a_mount(task) ? row->sandbox : 0;
}

#endif
