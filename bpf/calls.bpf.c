// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * calls: what the keeper asks of the kernel half.
 *
 * Programs and duties
 *   syscall   sandbox_create   row, ring slot, owners, and the seed of the caller's next child
 *   syscall   sandbox_control  delete, dying, seed, ring, and what iter/task is to do next
 *   iter/task task_threads     labels, registers or reports the threads behind a pidfd
 *
 * User space knows no task pointers, and in a container not even the kernel's pid numbers; here
 * `current` is the caller itself. A request that cannot be met leaves nothing behind and says
 * why in its answer.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dying.bpf.h"
#include "sbx/adopt.h"
#include "fs_live.bpf.h"
#include "net_maps.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* ---- ring slots ----------------------------------------------------------------------------- */

struct claim {
	__u64 sandbox;
	__u32 ready_only;
	__u32 slot;
};

/* A claim whose sandbox has no row is void: nobody gives one back, so nobody can fail to. */
static long claim_slot(__u32 i, struct claim *c)
{
	struct sbx_ring_slot *slot = bpf_map_lookup_elem(&ring_slots, &i);
	__u64 holder;

	if (!slot)
		return 1;
	if (c->ready_only && !slot->ready)
		return 0;
	holder = slot->sandbox;
	if (sandbox_of(holder) ||
	    __sync_val_compare_and_swap(&slot->sandbox, holder, c->sandbox) != holder)
		return 0;
	c->slot = i;
	return 1;
}

/* A slot that has its ring, else one that the caller fills. */
static __always_inline __u32 claim_ring(__u64 sandbox)
{
	struct claim c = { .sandbox = sandbox, .ready_only = 1, .slot = SBX_NO_RING };

	bpf_loop(SBX_MAX_RINGS, claim_slot, &c, 0);
	if (c.slot != SBX_NO_RING)
		return c.slot;
	c.ready_only = 0;
	bpf_loop(SBX_MAX_RINGS, claim_slot, &c, 0);
	return c.slot;
}

static __always_inline void ring_is_ready(struct sbx_sandbox *sb)
{
	__u32 i = sb->ring;
	struct sbx_ring_slot *slot = bpf_map_lookup_elem(&ring_slots, &i);

	if (slot)
		slot->ready = 1;
}

/* ---- create --------------------------------------------------------------------------------- */

/* The caller's own row, made when it has none: a keeper outside every sandbox. */
static __always_inline int seed_set(struct task_struct *task, __u64 seed)
{
	struct sbx_task *row = row_at(task), fresh = {};
	__u64 key = (__u64)(long)task;

	if (row && row_is_of(row, task)) {
		row->seed = seed;
		row->flags |= SBX_TASK_KEEPER;
		return 0;
	}
	if (row)
		row_retire(key, row, false);
	row_fill(&fresh, task);
	fresh.signal = signal_bits(task->signal);
	fresh.flags = SBX_TASK_KEEPER;
	fresh.seed = seed;
	return row_put(key, &fresh) ? -ENOSPC : 0;
}

static __always_inline int owners_add(struct sbx_sandbox *sb)
{
	__u32 keeper = sb->keeper_tgid, owner = sb->owner_tgid, one = 1;

	if (sb->flags & SBX_KILL_WITH_KEEPER &&
	    bpf_map_update_elem(&owners, &keeper, &one, BPF_ANY))
		return -ENOSPC;
	if (sb->flags & SBX_KILL_WITH_OWNER && owner &&
	    bpf_map_update_elem(&owners, &owner, &one, BPF_ANY))
		return -ENOSPC;
	return 0;
}

/* After the row is there: an ancestor that began to die, or an unload, has either seen it or is
 * seen here. */
static __always_inline int still_welcome(struct sbx_sandbox *sb)
{
	struct sbx_sandbox *up = sandbox_of(sb->parent);
	__u32 zero = 0;
	struct sbx_facts *f = bpf_map_lookup_elem(&facts, &zero);

	if (!f || f->gone)
		return -ESTALE;
	return up && up->flags & SBX_DYING ? -ECANCELED : 0;
}

static __always_inline void live_add(__u64 *live, __s64 n)
{
	if (live)
		__sync_fetch_and_add(live, n);
}

/* Its claim to a ring slot and its owners' rows are void without it. */
static __always_inline void sandbox_drop(struct sbx_sandbox *sb)
{
	__u64 id = sb->id, files = sb->files_generation, net = sb->net_generation;

	if (bpf_map_delete_elem(&sandboxes, &id))
		return;
	if (files)
		live_add(fs_live_count(), -1);
	if (net)
		live_add(net_live_count(), -1);
}

/* From the request and the caller; the caller's sandbox becomes the parent. */
static __always_inline int sandbox_init(struct sbx_sandbox *sb, struct sbx_create *a,
					struct task_struct *task)
{
	struct sbx_task *row = row_of(task);
	struct sbx_sandbox *up = row ? sandbox_of(row->sandbox) : NULL;

	__builtin_memset(sb, 0, sizeof(*sb));
	if (row && row->sandbox && !up)
		return -ECANCELED;
	if (up) {
		if (up->nest + 1 >= SBX_MAX_NEST)
			return -ELOOP;
		sb->parent = up->id;
		sb->nest = up->nest + 1;
	}
	sb->id = a->id;
	sb->created_ns = bpf_ktime_get_boot_ns();
	sb->max_execs = a->max_execs;
	sb->max_depth = a->max_depth;
	sb->cgroup_id = a->cgroup_id;
	sb->cgroup_level = a->cgroup_level;
	sb->flags = a->flags & (SBX_KILL_WITH_OWNER | SBX_KILL_WITH_KEEPER);
	sb->keeper_tgid = task->tgid;
	sb->owner_tgid = a->owner_tgid;
	sb->ring = SBX_NO_RING;
	return 0;
}

static __always_inline int create(struct sbx_create *a, struct task_struct *task)
{
	struct sbx_sandbox sb, *at;
	struct sbx_ring_slot *slot;
	__u64 id = a->id;
	int rc = sandbox_init(&sb, a, task);

	if (rc)
		return rc;
	rc = bpf_map_update_elem(&sandboxes, &id, &sb, BPF_NOEXIST);
	if (rc)
		return rc == -EEXIST ? rc : -ENOSPC;
	at = sandbox_of(id);
	if (!at)
		return -ENOENT;
	if (a->want_events)
		at->ring = a->ring = claim_ring(id);
	slot = bpf_map_lookup_elem(&ring_slots, &a->ring);
	a->ring_ready = slot ? slot->ready : 0;
	rc = owners_add(at);
	if (!rc)
		rc = still_welcome(at);
	if (!rc)
		rc = seed_set(task, id);
	if (rc)
		sandbox_drop(at);
	return rc;
}

SEC("syscall")
int sandbox_create(struct sbx_create *a)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct sbx_create in;

	__builtin_memcpy(&in, a, sizeof(in));
	in.ring = SBX_NO_RING;
	a->error = create(&in, task);
	a->ring = in.ring;
	a->ring_ready = in.ring_ready;
	a->pid_ns_level = task->thread_pid->level;
	return 0;
}

/* ---- control -------------------------------------------------------------------------------- */

static __always_inline int request_put(struct sbx_control *in)
{
	__u64 key = bpf_get_current_pid_tgid();

	return bpf_map_update_elem(&requests, &key, in, BPF_ANY) ? -ENOSPC : 0;
}

/* The caller has seen that no process has this number, or another one has. */
static __always_inline int retire(struct sbx_control *in)
{
	struct sbx_task *row = row_find(in->key);

	if (!row || row->start_ns != in->start_ns || row->sandbox != in->sandbox)
		return -ENOENT;
	row_stale(in->key, row, true);
	return 0;
}

/* The caller holds the objects: when nobody does any more all is refused (dying_orphan). */
static __always_inline int files_publish(struct sbx_sandbox *sb, __u64 generation, __u32 holder)
{
	bool first = !sb->files_generation;
	__u32 one = 1;

	if (generation != sb->files_next || !generation)
		return -ESTALE;
	if (bpf_map_update_elem(&owners, &holder, &one, BPF_ANY))
		return -ENOSPC;
	sb->files_holder = holder;
	sb->files_watcher = 0;
	if (first)
		live_add(fs_live_count(), 1);
	*(volatile __u64 *)&sb->files_generation = generation;
	return 0;
}

static __always_inline int net_publish(struct sbx_sandbox *sb, __u64 generation, __u64 space)
{
	bool first = !sb->net_generation;

	if (generation != sb->net_next || !generation)
		return -ESTALE;
	sb->net_space = space;
	if (first)
		live_add(net_live_count(), 1);
	*(volatile __u64 *)&sb->net_generation = generation;
	return 0;
}

static __always_inline int files_hold(struct sbx_sandbox *sb, __u64 generation, __u32 watcher)
{
	__u32 one = 1;

	if (generation != sb->files_generation || !generation)
		return -ESTALE;
	if (bpf_map_update_elem(&owners, &watcher, &one, BPF_ANY))
		return -ENOSPC;
	sb->files_watcher = watcher;
	return 0;
}

static __always_inline int control(struct sbx_control *in, struct task_struct *task)
{
	struct sbx_sandbox *sb = sandbox_of(in->sandbox);
	struct sbx_task *row = row_of(task);

	if (in->what == SBX_CONTROL_UNSEED || in->what == SBX_CONTROL_DELETE)
		if (row && row->seed == in->sandbox)
			row->seed = 0;
	if (in->what == SBX_CONTROL_LOOK)
		return request_put(in);
	if (!sb)
		return -ENOENT;
	switch (in->what) {
	case SBX_CONTROL_UNSEED:
		return 0;
	case SBX_CONTROL_DELETE:
		sandbox_drop(sb);
		return 0;
	case SBX_CONTROL_DYING:
		dying_set(sb);
		return 0;
	case SBX_CONTROL_ENDING:
		__sync_fetch_and_or(&sb->flags, SBX_ENDING);
		return 0;
	case SBX_CONTROL_DEADLINE:
		sb->deadline_ns = in->key;
		return 0;
	case SBX_CONTROL_RING_READY:
		ring_is_ready(sb);
		return 0;
	case SBX_CONTROL_RETIRE:
		return retire(in);
	case SBX_CONTROL_FILES_CLAIM:
		sb->files_next = in->key;
		return 0;
	case SBX_CONTROL_FILES_PUBLISH:
		return files_publish(sb, in->key, task->tgid);
	case SBX_CONTROL_FILES_HOLD:
		return files_hold(sb, in->key, task->tgid);
	case SBX_CONTROL_NET_CLAIM:
		sb->net_next = in->key;
		return 0;
	case SBX_CONTROL_NET_PUBLISH:
		return net_publish(sb, in->key, in->start_ns);
	case SBX_CONTROL_REPORT:
		__sync_fetch_and_or(&sb->flags, SBX_REPORTED);
		return 0;
	case SBX_CONTROL_LABEL:
	case SBX_CONTROL_OWNER:
	case SBX_CONTROL_ADOPT:
		return request_put(in);
	}
	return -EINVAL;
}

SEC("syscall")
int sandbox_control(struct sbx_control *a)
{
	struct sbx_control in;

	__builtin_memcpy(&in, a, sizeof(in));
	a->error = control(&in, bpf_get_current_task_btf());
	return 0;
}

/* ---- threads of a process ------------------------------------------------------------------- */

/* The first thread that is labelled counts for its process. */
static __always_inline int label_thread(struct task_struct *task, struct sbx_sandbox *sb,
					struct sbx_control *req)
{
	struct sbx_task fresh = { .sandbox = sb->id, .depth = sb->base_depth }, *row = row_at(task);
	struct tally t = { 1, 0, 0, 0 };
	__u64 key = (__u64)(long)task;
	__s32 first = !req->error;

	if (first) {
		fresh.flags = SBX_TASK_PROCESS | (sb->root_pid ? 0 : SBX_TASK_ROOT);
		t.processes = t.born = 1;
	}
	if (row && row->flags & SBX_TASK_KEEPER && row_is_of(row, task)) {
		fresh.flags |= SBX_TASK_KEEPER;
		fresh.seed = row->seed;
	}
	row_fill(&fresh, task);
	fresh.signal = signal_bits(task->signal);
	tally_up(sb, &t);
	if (!row_put(key, &fresh)) {
		req->error = 1;
		/* It may have exited before its row was there: then nobody else deletes it. */
		if (!(task->flags & PF_EXITING) || row_delete(key))
			return 0;
	}
	t = (struct tally){ -1, -t.processes, -t.born, 0 };
	tally_up(sb, &t);
	return task->flags & PF_EXITING ? 0 : -ENOSPC;
}

static __always_inline int label(struct task_struct *task, struct sbx_control *req)
{
	struct sbx_sandbox *sb = sandbox_of(req->sandbox);
	struct sbx_task *row = row_of(task);
	int rc = 0;

	if (!sb)
		return -ENOENT;
	if (task->flags & PF_EXITING)
		return 0;
	if (row && row->sandbox && row->sandbox != req->sandbox)
		return -EBUSY;
	if (!row || !row->sandbox)
		rc = label_thread(task, sb, req);
	if (!rc && !sb->root_pid) {
		sb->root_pid = task->tgid;
		sb->root_start_ns = task->group_leader->start_boottime;
	}
	return rc;
}

static __always_inline int own(struct task_struct *task, struct sbx_control *req)
{
	struct sbx_sandbox *sb = sandbox_of(req->sandbox);
	__u32 tgid = task->tgid, one = 1;

	if (!sb)
		return -ENOENT;
	sb->owner_tgid = tgid;
	return bpf_map_update_elem(&owners, &tgid, &one, BPF_ANY) ? -ENOSPC : 0;
}

SEC("iter/task")
int task_threads(struct bpf_iter__task *ctx)
{
	__u64 key = bpf_get_current_pid_tgid();
	struct sbx_control *req = bpf_map_lookup_elem(&requests, &key);
	struct task_struct *task = ctx->task;
	struct sbx_thread out = {};
	struct sbx_task *row;

	if (!req)
		return 0;
	if (!task) {
		bpf_map_delete_elem(&requests, &key);
		return 0;
	}
	if (req->what == SBX_CONTROL_LABEL)
		out.error = label(task, req);
	else if (req->what == SBX_CONTROL_OWNER)
		out.error = own(task, req);
	row = row_of(task);
	if (row &&
	    row->flags & SBX_TASK_EMBRYO) /* it is on the list, and the fork hook was skipped */
		row_complete(row, task);
	out.pid = task->pid;
	out.tgid = task->tgid;
	out.sandbox = row ? row->sandbox : 0;
	out.flags = row ? row->flags : 0;
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}
