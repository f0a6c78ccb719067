// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * kill: the tree dies in the exit hook of its owner, with no user space left alive.
 *
 * Hooks and duties
 *   tp_btf/sched_process_exit  while there is something to kill: one bounded pass over all threads
 *
 * Attached after track's exit hook, which marks the sandboxes of a dead owner and sets kill_pending; so the first pass
 * runs in the owner itself, a moment later. A pass that meets its bound leaves kill_pending set, and the next exit on the
 * host, most likely that of a process just killed, goes on. A program of its own, so that a kernel
 * which cannot run it (before 6.16, where the hook runs after exit_mm() and every send is refused) still
 * tracks.
 *
 * All threads are visited, not leaders: a process whose leader has exited has no other row. Who already has its SIGKILL
 * carries SIGNAL_GROUP_EXIT. A child forked meanwhile is appended to the list that is being walked, or, under a
 * dying sandbox, was killed in the fork hook. Whatever a pass cannot signal is left to cgroup.kill and the sweep.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "rows.bpf.h"
#include "dying.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

extern __u32 kill_pending;

enum { ITER_ALL_THREADS = 1 }; /* BPF_TASK_ITER_ALL_THREADS */

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task, unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;
extern struct task_struct *bpf_task_acquire(struct task_struct *p) __ksym __weak;
extern void bpf_task_release(struct task_struct *p) __ksym __weak;
extern void *bpf_rdonly_cast(void *obj, __u32 btf_id) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;
extern int bpf_send_signal_task(struct task_struct *task, int sig, enum pid_type type, __u64 value) __ksym __weak;

/* bpf_send_signal_task() exists (6.13). */
const volatile bool can_signal_child;

/*
 * From the fork hook: the child has not run yet, a SIGKILL now is the first thing it sees. Without the kfunc the keeper's
 * kill gets it.
 */
__hidden int kill_child(struct task_struct *child)
{
	return can_signal_child ? bpf_send_signal_task(child, SIGKILL, PIDTYPE_TGID, 0) : -EPERM;
}

/* Bits, not counts: a counter that is compared never lets the verifier's walk of the loop converge. */
enum { PASS_SENT = 1, PASS_FAILED = 2, PASS_CUT = 4 };

/* The sandbox that the thread of this row dies with. A global function: the verifier need not follow it in every round. */
int doomed(__u64 key, __u64 start_ns, __u32 tgid, bool count)
{
	struct sbx_task *row = bpf_map_lookup_elem(&tasks, &key);
	struct sbx_sandbox *sb;

	if (!row || (row->start_ns != start_ns && row->tgid != tgid))
		return 0;
	sb = sandbox_of(row->sandbox);
	if (!sb || !(sb->flags & SBX_KILLING))
		return 0;
	if (count)
		__sync_fetch_and_add(&sb->killed, 1);
	return 1;
}

static __always_inline bool is_doomed(struct task_struct *task, bool count)
{
	return doomed((__u64)(long)task, task->start_boottime, task->tgid, count);
}

/*
 * Whether it already has its SIGKILL, or is past needing one. Through an untrusted pointer: a load from a trusted one makes
 * the verifier search all of BTF by name, in every round that it walks (45 ms on 6.18).
 */
static __always_inline bool is_dead(struct task_struct *task)
{
	struct task_struct *plain = bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
	struct signal_struct *sig = plain->signal;

	return task->flags & PF_EXITING || (sig->flags & SIGNAL_GROUP_EXIT && !sig->core_state);
}

static __always_inline __u32 kill_one(struct task_struct *task)
{
	struct task_struct *held = bpf_task_acquire(task);
	int rc;

	if (!held)
		return 0;
	rc = bpf_send_signal_task(held, SIGKILL, PIDTYPE_TGID, 0);
	if (rc)
		STAT_ADD(send_failed);
	else
		is_doomed(held, true);
	bpf_task_release(held);
	return rc ? PASS_FAILED : PASS_SENT;
}

static __always_inline __u32 kill_all(void)
{
	__u64 end = bpf_ktime_get_ns() + SBX_KILL_PASS_NS;
	struct bpf_iter_task it;
	struct task_struct *task;
	__u32 pass = 0;

	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ITER_ALL_THREADS);
	while ((task = bpf_iter_task_next(&it))) {
		if (!is_doomed(task, false) || is_dead(task))
			continue;
		if (bpf_ktime_get_ns() > end) {
			pass |= PASS_CUT;
			break;
		}
		pass |= kill_one(task);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return pass;
}

static __always_inline int kill_hook(void)
{
	__u32 left = kill_pending, pass;

	/* Who loses the race would find the victims of the winner. */
	if (!left || __sync_val_compare_and_swap(&kill_pending, left, left - 1) != left)
		return 0;
	pass = kill_all();
	if (pass & PASS_CUT || pass == (PASS_SENT | PASS_FAILED))
		kill_pending = KILL_TRIES;
	else if (!(pass & PASS_FAILED))
		__sync_val_compare_and_swap(&kill_pending, left - 1, 0);
	return 0;
}

#define KILL_COPY(n)                               \
	SEC("tp_btf/sched_process_exit")           \
	int BPF_PROG(kill_exit_##n)                \
	{                                          \
		return kill_pending ? kill_hook() : 0; \
	}

KILL_COPY(1)
KILL_COPY(2)
KILL_COPY(3)
