// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * kill: the tree dies in the exit hook of its owner, with no user space left alive.
 *
 * Hooks and duties
 *   tp_btf/sched_process_exit  while there is something to kill: one pass over all threads
 *
 * Attached after track's exit hook, which marks the sandboxes of a dead owner and counts up
 * kill_wanted; so the first pass runs in the owner itself, a moment later. A program of its
 * own, so that a kernel which cannot run it (before 6.16, where the hook runs after exit_mm()
 * and every send is refused) still tracks.
 *
 * A pass is bounded in time from its first signal on, since the hook may run with preemption
 * off. How it goes on after that: the pass opens the lock first, and only then kills one victim
 * more. The exit of that one comes later, finds the lock open or another pass under way, and
 * goes on. So no pass ends without either all victims killed or one exit to come. Whoever finds
 * the lock closed leaves; a wish that came meanwhile makes the holder walk again.
 *
 * All threads are visited, not leaders: a process whose leader has exited has no other row. Who
 * already has its SIGKILL carries SIGNAL_GROUP_EXIT. A child forked meanwhile is appended to
 * the list that is being walked; once all have their signal nobody can fork any more. Whatever
 * cannot be signalled is left to cgroup.kill and the sweep.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "dying.bpf.h"
#include "plain.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

extern __u32 kill_wanted, kill_done;
extern const volatile bool exit_may_be_missed;

enum { ITER_ALL_THREADS = 1 }; /* BPF_TASK_ITER_ALL_THREADS */

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;
extern struct task_struct *bpf_task_acquire(struct task_struct *p) __ksym __weak;
extern void bpf_task_release(struct task_struct *p) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;
extern int bpf_send_signal_task(struct task_struct *task, int sig, enum pid_type type,
				__u64 value) __ksym __weak;

/* bpf_send_signal_task() exists (6.13). */
const volatile bool can_signal_child;

/*
 * From the fork hook: the child has not run yet, a SIGKILL now is the first thing it sees.
 * Without the kfunc the keeper's kill gets it.
 */
__hidden int kill_child(struct task_struct *child)
{
	return can_signal_child ? bpf_send_signal_task(child, SIGKILL, PIDTYPE_TGID, 0) : -EPERM;
}

/* Bits: a local counter that is compared never lets the verifier's walk of the loop end. */
enum { PASS_SENT = 1, PASS_FAILED = 2 };

/*
 * Walks of one exit: for a wish that came meanwhile, for a last victim that was gone, and,
 * where the hook can be preempted, for what was left to the exits that the kernel skipped
 * meanwhile.
 */
#define ROUNDS 8

__u32 kill_lock;
__u32 kill_sent;   /* signals, all passes; wraps */
__u32 kill_failed; /* passes in a row that met a refusal */

/* Whether the thread of this row dies with its sandbox. An embryo on the list has passed its fork's
 * last check for signals: nothing else kills it. A global function: the verifier need not follow it
 * in every round. */
int doomed(__u64 key, __u64 start_ns, __u32 tgid, __s32 killed)
{
	struct sbx_task *row = row_find(key);
	struct sbx_sandbox *sb;

	if (!row ||
	    (row->start_ns != start_ns && row->tgid != tgid && !(row->flags & SBX_TASK_EMBRYO)))
		return 0;
	sb = sandbox_of(row->sandbox);
	if (!sb || !(sb->flags & SBX_KILLING))
		return 0;
	if (killed)
		__sync_fetch_and_add(&sb->killed, (__s64)killed);
	return 1;
}

static __always_inline bool is_doomed(struct task_struct *task, __s32 killed)
{
	return doomed((__u64)(long)task, task->start_boottime, task->tgid, killed);
}

/*
 * Whether it already has its SIGKILL, or is past needing one. Through an untrusted pointer: a
 * load from a trusted one makes the verifier search all of BTF by name, in every round that it
 * walks (45 ms on 6.18).
 */
static __always_inline bool is_dead(struct task_struct *task)
{
	struct task_struct *plain = plain_task(task);
	struct signal_struct *sig = plain->signal;

	return task->flags & PF_EXITING || (sig->flags & SIGNAL_GROUP_EXIT && !sig->core_state);
}

/* Counted before: its row goes with it. */
static __always_inline __u32 kill_held(struct task_struct *held)
{
	int rc;

	is_doomed(held, 1);
	rc = bpf_send_signal_task(held, SIGKILL, PIDTYPE_TGID, 0);
	if (rc) {
		is_doomed(held, -1);
		STAT_ADD(send_failed);
	} else {
		__sync_fetch_and_add(&kill_sent, 1);
	}
	bpf_task_release(held);
	return rc ? PASS_FAILED : PASS_SENT;
}

/*
 * Kills until the time is over, but on a slow machine more than a few: each pass visits all threads
 * of the host. Then returns the next victim, which the caller kills.
 */
static __always_inline struct task_struct *kill_some(__u32 *pass)
{
	struct task_struct *task, *held, *next = NULL;
	__u32 begin = kill_sent;
	struct bpf_iter_task it;
	__u64 end = 0;

	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ITER_ALL_THREADS);
	while ((task = bpf_iter_task_next(&it))) {
		if (!is_doomed(task, 0) || is_dead(task))
			continue;
		held = bpf_task_acquire(task);
		if (!held)
			continue;
		if (!end)
			end = bpf_ktime_get_ns() + SBX_KILL_PASS_NS;
		if (kill_sent - begin > SBX_KILL_PASS_MIN && bpf_ktime_get_ns() > end) {
			next = held;
			break;
		}
		*pass |= kill_held(held);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return next;
}

/* What the kernel refused is tried again by later exits, but not for ever. */
static __always_inline bool give_up(__u32 pass)
{
	if (pass & PASS_FAILED)
		return ++kill_failed > KILL_TRIES;
	kill_failed = 0;
	return true;
}

/* Whether to look again. */
static __always_inline bool kill_pass(void)
{
	__u32 wanted = kill_wanted, pass = 0;
	struct task_struct *next;

	if (__sync_val_compare_and_swap(&kill_lock, 0, 1))
		return false;
	next = kill_some(&pass);
	if (!next && give_up(pass))
		kill_done = wanted;
	__sync_val_compare_and_swap(&kill_lock, 1, 0);
	if (next)
		return kill_held(next) & PASS_FAILED || exit_may_be_missed;
	return !(pass & PASS_FAILED);
}

static long kill_round(__u32 i, void *ctx)
{
	return kill_wanted == kill_done || !kill_pass();
}

#define KILL_COPY(n)                                           \
	SEC("tp_btf/sched_process_exit")                       \
	int BPF_PROG(kill_exit_##n)                            \
	{                                                      \
		if (kill_wanted != kill_done)                  \
			bpf_loop(ROUNDS, kill_round, NULL, 0); \
		return 0;                                      \
	}

KILL_COPY(1)
KILL_COPY(2)
KILL_COPY(3)
