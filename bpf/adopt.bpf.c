// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * adopt: a tree that runs already gets its rows, and gives them back.
 *
 * Programs and duties
 *   iter/task adopt_tasks     one pass over all threads of the host: whose parent is a member becomes one
 *   syscall   sandbox_let_go  members become what they were: of the sandbox around, or of none
 *
 * The root is labelled first, thread by thread (task_threads). Then passes follow until one adds
 * nothing. A fork by a member labels its child in the fork hook, so what a pass may have missed was
 * forked by a thread that had no row yet: it was on the list by then, and its parent has a row now,
 * so the next pass finds it. Whose parent died before that pass came is an orphan from before, and
 * nobody's child.
 *
 * A row is added only where there is none, and counted only by whoever added it: the fork hook may be
 * there at the same moment. A thread may exit while it is labelled; who then deletes its row counts.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "sbx/adopt.h"
#include "tally.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Whether the thread has a row now that it had not. */
static __always_inline int join(struct task_struct *task, struct sbx_sandbox *sb,
				const struct sbx_task *up, struct sbx_adopted *out)
{
	bool process = task->pid == task->tgid && up->tgid != (__u32)task->tgid;
	struct sbx_task fresh = { .sandbox = sb->id, .depth = up->depth + process };
	struct tally t = { 1, process, process, 0 };
	__u64 key = (__u64)(long)task;
	int rc;

	if (process)
		fresh.flags = SBX_TASK_PROCESS;
	row_fill(&fresh, task);
	fresh.signal = signal_bits(task->signal);
	if (sb->live >= SBX_MAX_TASKS_PER_SANDBOX) {
		out->error = -ENOSPC;
		return 0;
	}
	tally_up(sb, &t);
	rc = row_add(key, &fresh);
	if (!rc && (!(task->flags & PF_EXITING) || row_delete(key)))
		return 1;
	t = (struct tally){ -t.threads, -t.processes, -t.born, 0 };
	tally_up(sb, &t);
	if (rc && rc != -EEXIST)
		out->error = -ENOSPC;
	return 0;
}

/* A keeper outside every sandbox keeps its seed. */
static __always_inline int join_row(struct sbx_task *row, struct task_struct *task,
				    struct sbx_sandbox *sb, const struct sbx_task *up)
{
	bool process = task->pid == task->tgid && up->tgid != (__u32)task->tgid;
	struct tally t = { 1, process, process, 0 };

	if (__sync_val_compare_and_swap(&row->sandbox, 0, sb->id))
		return 0;
	row->depth = up->depth + process;
	if (process)
		row->flags |= SBX_TASK_PROCESS;
	tally_up(sb, &t);
	return 1;
}

/* The member that makes this thread one: of its own process, else the parent. */
static __always_inline struct sbx_task *sponsor(struct task_struct *task, struct sbx_sandbox *sb)
{
	struct sbx_task *row = row_of(task->group_leader);

	if (task->pid != task->tgid && row && row->sandbox == sb->id)
		return row;
	row = row_of(task->real_parent);
	return row && row->sandbox == sb->id ? row : NULL;
}

static __always_inline void look_at(struct task_struct *task, struct sbx_sandbox *sb,
				    struct sbx_adopted *out)
{
	struct sbx_task *row = row_of(task), *up;

	if (row && row->sandbox == sb->id)
		return;
	if (task->flags & PF_EXITING)
		return;
	up = sponsor(task, sb);
	if (!up)
		return;
	if (row && row->sandbox) {
		out->foreign += task->pid == task->tgid;
		return;
	}
	/* Without its leader nothing says whether the process was counted: its own walk does. */
	if (task->pid != task->tgid && up->tgid != (__u32)task->tgid &&
	    task->group_leader->flags & PF_EXITING) {
		out->headless = task->tgid;
		return;
	}
	if (task->pid != task->tgid && up->tgid != (__u32)task->tgid)
		return; /* after its leader */
	out->added += row ? join_row(row, task, sb, up) : join(task, sb, up, out);
}

SEC("iter/task")
int adopt_tasks(struct bpf_iter__task *ctx)
{
	__u64 key = bpf_get_current_pid_tgid();
	struct sbx_control *req = bpf_map_lookup_elem(&requests, &key);
	struct task_struct *task = ctx->task;
	struct sbx_adopted *out;
	struct sbx_sandbox *sb;

	if (!req || req->what != SBX_CONTROL_ADOPT)
		return 0;
	out = (struct sbx_adopted *)&req->key; /* and start_ns: nobody else reads them */
	if (!task) {
		if (!bpf_seq_write(ctx->meta->seq, out, sizeof(*out)))
			bpf_map_delete_elem(&requests, &key);
		return 0;
	}
	sb = sandbox_of(req->sandbox);
	if (sb)
		look_at(task, sb, out);
	else
		out->error = -ENOENT;
	return 0;
}

/* ---- and back ------------------------------------------------------------------------------- */

struct letting_go {
	__u64 id, parent;
	__u32 found;
};

/* The row stays until the thread's end: whoever reads it meanwhile counts for the one or the other. */
static long let_go(void *map, __u64 *key, struct sbx_task *row, struct letting_go *ctx)
{
	if (row->sandbox != ctx->id)
		return 0;
	row->sandbox = ctx->parent;
	row->flags &= ~SBX_TASK_ROOT;
	ctx->found++;
	return 0;
}

SEC("syscall")
int sandbox_let_go(struct sbx_control *a)
{
	struct letting_go ctx = { .id = a->sandbox };
	struct sbx_sandbox *sb = sandbox_of(a->sandbox);

	if (!sb) {
		a->error = -ENOENT;
		return 0;
	}
	if (sb->flags & SBX_DYING) {
		a->error = -ECANCELED;
		return 0;
	}
	__sync_fetch_and_and(&sb->flags, ~(SBX_KILL_WITH_OWNER | SBX_KILL_WITH_KEEPER));
	ctx.parent = sb->parent;
	bpf_for_each_map_elem(&tasks, let_go, &ctx, 0);
	a->key = ctx.found;
	a->error = 0;
	return 0;
}
