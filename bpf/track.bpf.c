// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * track: the kernel knows the tree.
 *
 * Hooks and duties
 *   lsm/task_alloc          A  labels the child before it exists for anyone; refuses the fork
 *   lsm/task_free           A  removes rows of children that never ran, counts missed exits
 *   lsm/bprm_check_security A  refuses an exec beyond max_execs
 *   tp_btf/sched_process_fork  completes the row of task_alloc (A), or makes it (B)
 *   tp_btf/sched_process_exec  rewrites the row, counts, bounds
 *   tp_btf/sched_process_exit  deletes the row, counts, receipt, death of owners
 * Tier A has both kinds, tier B (BPF LSM refused by the host) the second alone.
 *
 * Theory of operation
 *
 * A sandbox is a label. Every thread of it has one row in `tasks`, keyed by the address of its
 * task_struct, because that can be read from every program type; whatever the thread does to
 * its session, parent, namespaces or cgroup, the address stays. A child inherits the row of the
 * thread that forks it, before its first instruction. The first row of a tree comes from a
 * seed: the keeper's own row names the sandbox of its next child, and the fork uses it up.
 *
 * Rows die in the exit hook, not when the task is freed: a zombie has none, so a row that is
 * still there after pidfd_open(2) proves whose pidfd it is. The delete is also the token that
 * makes counting exact: whoever deleted the row counts the thread.
 *
 * A process ends with its last thread. Where the tracepoint says so (group_dead, 6.16) that is
 * exact; before, several threads that exit at once all see signal->live == 0, and a token in
 * `deaths` picks one. It is only made when threads are left that may still be in their hook
 * (nr_threads > 1).
 *
 * An address may be reused while the row of the dead task is still there, if its exit was
 * missed or the delete failed. So a look-up compares the start time; the fork hook removes
 * whatever row it finds at the child's address, labelled parent or not, and counts the end that
 * was missed.
 *
 * Since a46023d5616e ("tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with
 * SRCU-fast") tracepoint programs can be preempted, and a program that is already active on a
 * CPU is skipped for whoever comes next there, until the preempted task runs again. On such
 * kernels (found by trying, user/kern/probe_skip.c) three copies of each hook are attached, and
 * each finds out from the row whether another copy has done the work. Switching preemption off
 * inside would not help: the task is then preempted where it is switched on again, still
 * inside. What all copies missed is made up for in task_free (A: LSM programs are never
 * skipped), or when the process is found gone (kern/tasks.c).
 *
 * io_uring workers: created without the fork tracepoint, so on tier B they have no row. They
 * run only work of a process that has one, die with it, and can neither fork nor exec. Tier A
 * sees them in task_alloc.
 *
 * When something fails: no room for a row: the fork is refused (A), or the sandbox is dying and
 * the child is killed (B). No sandbox row: as if dying. A full ring: the record is dropped and
 * counted.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dying.bpf.h"
#include "event.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* sched_process_exit has its second argument, group_dead (6.16). */
const volatile bool exit_tells_group_dead;
/* Hooks may be skipped: an end that was missed must be told from one that was counted. */
const volatile bool exit_may_be_missed;
/* Wishes that kill.bpf.c kills, and how many of them it has met: two loads an exit while equal. */
__u32 kill_wanted, kill_done;

/* ---- birth ---------------------------------------------------------------------------------- */

/* The row that a child of `up` gets; false when it gets none. */
static __always_inline bool heir_of(const struct sbx_task *up, bool process, struct sbx_task *heir)
{
	__builtin_memset(heir, 0, sizeof(*heir));
	heir->sandbox = up->sandbox;
	heir->depth = up->depth + process;
	if (process)
		heir->flags = SBX_TASK_PROCESS;
	if (process && up->flags & SBX_TASK_KEEPER && up->seed) {
		heir->sandbox = up->seed;
		heir->flags |= SBX_TASK_ROOT;
	}
	return heir->sandbox;
}

/* A root has depth 0 in its own sandbox, and counts for those around it. */
static __always_inline bool too_deep(struct sbx_sandbox *sb, const struct sbx_task *heir)
{
	bool hit = !(heir->flags & SBX_TASK_ROOT) && depth_hit(sb, heir->depth);

	if (sb->parent)
		hit |= nest_depth(sb->parent, heir->depth);
	return hit;
}

static __always_inline void root_is(struct sbx_sandbox *sb, struct sbx_task *row)
{
	sb->root_pid = row->tgid;
	sb->root_start_ns = row->start_ns;
	sb->base_depth = row->depth;
}

static __always_inline void fork_event(struct sbx_sandbox *sb, struct sbx_task *row,
				       struct sbx_event *e, bool hit)
{
	if (!(row->flags & SBX_TASK_PROCESS))
		return;
	e->flags = hit ? SBX_EVENT_LIMIT : 0;
	event_put_up(sb, e, row->depth);
}

/* The row of a child whose fork cannot be refused any more. Counted before it is inserted: live
 * 0 means no rows. */
static __always_inline void birth(struct sbx_sandbox *sb, struct sbx_task *row,
				  struct task_struct *child, struct sbx_event *e)
{
	__u32 born = row->flags & SBX_TASK_PROCESS ? 1 : 0;
	struct tally t = { 1, born, born, 0 };
	bool hit = too_deep(sb, row);
	int rc;

	row_fill(row, child);
	if (sb->live >= SBX_MAX_TASKS_PER_SANDBOX) {
		dying_hit(sb, SBX_TASKS_HIT);
		hit = true;
	}
	row->flags |= sb->flags & SBX_DYING ? SBX_TASK_BORN_DYING : 0;
	tally_up(sb, &t);
	rc = row_put_child(child, row);
	if (rc) {
		t = (struct tally){ -t.threads, -t.processes, -t.born, 0 };
		tally_up(sb, &t);
		if (rc == -EEXIST)
			return;
		STAT_ADD(insert_failed);
		dying_hit(sb, SBX_TASKS_HIT);
		row->flags |= SBX_TASK_BORN_DYING;
	} else if (row->flags & SBX_TASK_ROOT) {
		root_is(sb, row);
	}
	fork_event(sb, row, e, hit);
	/* Looked at once more, and in order: a pass that began meanwhile may not have seen the row. */
	if ((row->flags & SBX_TASK_BORN_DYING ||
	     __sync_fetch_and_or(&sb->flags, 0) & SBX_KILLING) &&
	    !kill_child(child))
		__sync_fetch_and_add(&sb->killed, 1);
}

/* The sandbox's row is gone but members survive: their children stay findable, and are killed. */
static __always_inline void birth_orphan(struct sbx_task *row, struct task_struct *child)
{
	row_fill(row, child);
	row->flags |= SBX_TASK_BORN_DYING;
	if (row_put((__u64)(long)child, row))
		STAT_ADD(insert_failed);
	kill_child(child);
}

/* Tier A: the row is there since task_alloc and only lacks what was not known then. */
static __always_inline void embryo_born(struct sbx_task *row, struct task_struct *child,
					struct sbx_event *e, __u32 signal)
{
	struct sbx_sandbox *sb = sandbox_of(row->sandbox);

	row_fill(row, child);
	row->signal = signal;
	row->flags &= ~SBX_TASK_EMBRYO;
	if (!sb)
		return;
	if (row->flags & SBX_TASK_ROOT)
		root_is(sb, row);
	fork_event(sb, row, e, false);
}

/* Number and signal_struct may be those of a process that ended: its token must not stand for this end. */
static __always_inline void death_forget(__u32 signal, __u32 tgid)
{
	struct death key = { .signal = signal, .tgid = tgid };

	if (!exit_tells_group_dead || exit_may_be_missed)
		bpf_map_delete_elem(&deaths, &key);
}

static __always_inline int fork_hook(struct task_struct *parent, struct task_struct *child)
{
	struct sbx_task *up = row_of(parent), *row = row_at(child);
	bool process = child->pid == child->tgid;
	struct sbx_sandbox *sb;
	struct sbx_task heir;
	struct sbx_event e;
	__u32 signal;

	if (!up) {
		if (row)
			row_stale((__u64)(long)child, row, false);
		return 0;
	}
	if (row && !(row->flags & SBX_TASK_EMBRYO) && row->start_ns == child->start_boottime)
		return 0; /* another copy was here */
	/* Pointers are followed here, before the paths multiply: that keeps verification short. */
	signal = signal_bits(child->signal);
	if (process) {
		event_init(&e, SBX_EVENT_FORK, child);
		death_forget(signal, child->tgid);
	}
	if (row && row->flags & SBX_TASK_EMBRYO) {
		embryo_born(row, child, &e, signal);
		return 0;
	}
	if (row)
		row_stale((__u64)(long)child, row, false);
	if (!heir_of(up, process, &heir))
		return 0;
	heir.signal = signal;
	if (heir.flags & SBX_TASK_ROOT)
		up->seed = 0;
	sb = sandbox_of(heir.sandbox);
	if (sb)
		birth(sb, &heir, child, &e);
	else
		birth_orphan(&heir, child);
	return 0;
}

/* ---- exec ----------------------------------------------------------------------------------- */

/* One, or more where the hook was skipped before. */
static __always_inline bool exec_count(struct sbx_sandbox *sb, __u32 n)
{
	bool hit = exec_hit(sb, n);

	if (sb->parent)
		hit |= nest_exec(sb->parent, n);
	return hit;
}

/* The new image has not run yet. A thread other than the leader has become the leader: pid and
 * start are new. */
static __always_inline int exec_hook(struct task_struct *task)
{
	struct sbx_task *row = row_of(task);
	__u32 n = row ? (__u32)task->self_exec_id - row->exec_id : 0;
	struct sbx_sandbox *sb;
	struct sbx_event e;
	bool hit;

	if (!row || !n)
		return 0; /* none of ours, or another copy was here */
	event_init(&e, SBX_EVENT_EXEC, task);
	row_fill(row, task);
	row->flags = (row->flags & ~SBX_TASK_EMBRYO) | SBX_TASK_PROCESS;
	sb = sandbox_of(row->sandbox);
	if (!sb)
		return 0;
	hit = exec_count(sb, n);
	e.flags = hit ? SBX_EVENT_LIMIT : 0;
	event_put_up(sb, &e, row->depth);
	if ((hit || sb->flags & SBX_KILLING) && !bpf_send_signal(SIGKILL))
		__sync_fetch_and_add(&sb->killed, 1);
	return 0;
}

/* ---- exit ----------------------------------------------------------------------------------- */

/* Whether this thread is the one that ends its process; at most one is told so. */
static __always_inline bool claim_death(struct task_struct *task, struct signal_struct *sig)
{
	struct death key = { .signal = signal_bits(sig), .tgid = task->tgid };

	if (exit_tells_group_dead && !exit_may_be_missed)
		return true;
	/* Alone now, but another may have claimed before it was released. */
	if (!exit_may_be_missed && sig->nr_threads == 1)
		return !bpf_map_lookup_elem(&deaths, &key);
	return death_claim(&key);
}

/* Threads released before are summed up in the signal_struct; the last slice of a running
 * thread is not in yet. */
static __always_inline __u64 cpu_time(struct task_struct *task, struct task_struct *leader,
				      struct signal_struct *sig)
{
	__u64 ns = sig->sum_sched_runtime + task->se.sum_exec_runtime;

	return leader == task ? ns : ns + leader->se.sum_exec_runtime;
}

/*
 * The record of a process that ends. Its status is as waitpid(2) returns it: since 6.1 the last
 * thread to exit has set SIGNAL_GROUP_EXIT, whatever the ending.
 */
static __always_inline void exit_event(struct sbx_event *e, struct task_struct *task,
				       struct signal_struct *sig)
{
	struct task_struct *leader = task->group_leader;

	event_init(e, SBX_EVENT_EXIT, leader);
	e->status = sig->flags & SIGNAL_GROUP_EXIT ? sig->group_exit_code : leader->exit_code;
	e->cpu_ns = cpu_time(task, leader, sig);
}

static __always_inline bool escaped(struct sbx_sandbox *sb)
{
	return sb->cgroup_id &&
	       bpf_get_current_ancestor_cgroup_id(sb->cgroup_level) != sb->cgroup_id;
}

static __always_inline void receipt(struct sbx_sandbox *sb, __u32 tgid, __u32 status, __u64 now)
{
	if (sb->root_pid != tgid || sb->flags & SBX_ROOT_EXITED)
		return;
	sb->root_status = status;
	sb->root_exit_ns = now;
	__sync_fetch_and_or(&sb->flags, SBX_ROOT_EXITED);
}

/* The receipt is there before anyone can reap the root, and before live says 0. */
static __always_inline void process_died(struct sbx_sandbox *sb, struct sbx_event *e, __u32 depth)
{
	if (escaped(sb)) {
		e->flags = SBX_EVENT_ESCAPED;
		__sync_fetch_and_add(&sb->escapes, 1);
	}
	receipt(sb, e->pid, e->status, e->time_ns);
	event_put_up(sb, e, depth);
}

static __always_inline void thread_died(struct sbx_task *row, struct task_struct *task, bool dead)
{
	struct signal_struct *sig = task->signal;
	bool last = dead && claim_death(task, sig);
	__u32 missed = (__u32)task->self_exec_id - row->exec_id;
	__u32 depth = row->depth;
	__u64 id = row->sandbox;
	struct tally t = { .threads = -1, .processes = -last, .exits = last };
	struct sbx_sandbox *sb;
	struct sbx_event e;

	if (last)
		exit_event(&e, task, sig);
	if (row_delete((__u64)(long)task)) {
		row->flags |= SBX_TASK_GONE;
		STAT_ADD(delete_failed);
	}
	sb = sandbox_of(id);
	if (!sb)
		return;
	if (missed)
		exec_count(sb, missed);
	if (last)
		process_died(sb, &e, depth);
	tally_up(sb, &t);
}

static __always_inline int exit_hook(struct task_struct *task, bool dead)
{
	struct sbx_task *row = row_of(task);

	if (dead && dying_owner(task->tgid))
		__sync_fetch_and_add(&kill_wanted, 1);
	if (!row)
		return 0;
	if (row->flags & SBX_TASK_GONE)
		row_delete((__u64)(long)task);
	else
		thread_died(row, task, dead);
	return 0;
}

/* ---- the programs: up to three copies of each ----------------------------------------------- */

static __always_inline bool group_dead(unsigned long long *ctx, struct task_struct *task)
{
	return exit_tells_group_dead ? ctx[1] & 1 : !task->signal->live.counter;
}

#define TRACK_COPY(n)                                                                       \
	SEC("tp_btf/sched_process_fork")                                                    \
	int BPF_PROG(track_fork_##n, struct task_struct *parent, struct task_struct *child) \
	{                                                                                   \
		return fork_hook(parent, child);                                            \
	}                                                                                   \
	SEC("tp_btf/sched_process_exec")                                                    \
	int BPF_PROG(track_exec_##n, struct task_struct *task)                              \
	{                                                                                   \
		return exec_hook(task);                                                     \
	}                                                                                   \
	SEC("tp_btf/sched_process_exit")                                                    \
	int BPF_PROG(track_exit_##n, struct task_struct *task)                              \
	{                                                                                   \
		return exit_hook(task, group_dead(ctx, task));                              \
	}

TRACK_COPY(1)
TRACK_COPY(2)
TRACK_COPY(3)

/* ---- tier A --------------------------------------------------------------------------------- */

/* The label is there before the child is; 0 or what fork() returns. */
static __always_inline int embryo_make(struct sbx_task *up, struct sbx_task *heir,
				       struct task_struct *child)
{
	__u32 born = heir->flags & SBX_TASK_PROCESS ? 1 : 0;
	struct sbx_sandbox *sb = sandbox_of(heir->sandbox);
	struct tally t = { 1, born, born, 0 };
	__u64 key = (__u64)(long)child;
	struct sbx_task *old = row_at(child);

	if (!sb || sb->flags & SBX_DYING || sb->live >= SBX_MAX_TASKS_PER_SANDBOX ||
	    too_deep(sb, heir))
		return -EAGAIN;
	if (old)
		row_retire(key, old, false);
	tally_up(sb, &t);
	if (!row_put(key, heir))
		return 0;
	t = (struct tally){ -t.threads, -t.processes, -t.born, 0 };
	tally_up(sb, &t);
	STAT_ADD(insert_failed);
	return -EAGAIN;
}

SEC("lsm/task_alloc")
int BPF_PROG(track_task_alloc, struct task_struct *task, unsigned long clone_flags, int ret)
{
	struct sbx_task *up = row_of(bpf_get_current_task_btf());
	struct sbx_task heir;

	if (up &&
	    up->flags &
		    SBX_TASK_EMBRYO) { /* it runs, so it is born, and the fork hook was skipped */
		row_complete(up, bpf_get_current_task_btf());
	}
	if (ret || !up || !heir_of(up, !(clone_flags & CLONE_THREAD), &heir))
		return ret;
	if (clone_flags & CLONE_INTO_CGROUP && !(heir.flags & SBX_TASK_ROOT) &&
	    nest_policy(heir.sandbox))
		return -EPERM;
	heir.flags |= SBX_TASK_EMBRYO;
	heir.exec_id = task->self_exec_id;
	ret = embryo_make(up, &heir, task);
	if (!ret && heir.flags & SBX_TASK_ROOT)
		up->seed = 0;
	return ret;
}

/* The end of a thread whose exit hooks were all skipped: late, but not lost. Its record is. */
static __always_inline void missed_end(struct sbx_task *row, struct task_struct *task)
{
	struct sbx_sandbox *sb = sandbox_of(row->sandbox);
	struct signal_struct *sig = task->signal;
	bool last = !sig->live.counter && claim_death(task, sig);
	struct tally t = { .threads = -1, .processes = -last, .exits = last };

	STAT_ADD(stale);
	if (row->flags & SBX_TASK_KEEPER && !sig->live.counter && dying_owner(task->tgid))
		__sync_fetch_and_add(&kill_wanted, 1);
	if (row_delete((__u64)(long)task) || !sb)
		return;
	if (last)
		receipt(sb, task->tgid, sig->group_exit_code, bpf_ktime_get_boot_ns());
	tally_up(sb, &t);
}

/* A row is left when the fork failed after task_alloc, or when every copy of the exit hook was
 * skipped. */
SEC("lsm/task_free")
int BPF_PROG(track_task_free, struct task_struct *task)
{
	struct sbx_task *row = row_at(task);

	if (!row)
		return 0;
	if (row->flags & (SBX_TASK_EMBRYO | SBX_TASK_GONE))
		row_retire((__u64)(long)task, row, false);
	else
		missed_end(row, task);
	return 0;
}

/* Only looks: sched_process_exec counts. A script passes here once for each interpreter. */
SEC("lsm/bprm_check_security")
int BPF_PROG(track_bprm_check, struct linux_binprm *bprm, int ret)
{
	struct sbx_task *row = row_of(bpf_get_current_task_btf());
	struct sbx_sandbox *sb = row ? sandbox_of(row->sandbox) : NULL;

	if (ret)
		return ret;
	for (int i = 0; i < SBX_MAX_NEST && sb; i++) {
		if (sb->max_execs && sb->execs >= sb->max_execs) {
			dying_hit(sb, SBX_EXECS_HIT);
			return -EAGAIN;
		}
		sb = sandbox_of(sb->parent);
	}
	return 0;
}
