/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * event: one record about a process into the ring of its sandbox and of those around it.
 * Telemetry: a full or missing ring drops and counts.
 */
#ifndef EVENT_BPF_H
#define EVENT_BPF_H

#include "tally.bpf.h"

/*
 * A wake-up an event would run the reader once a fork. The reader wakes when a quarter of the
 * ring waits, or when a limit was crossed; whoever wants records sooner looks by a timer of its
 * own.
 */
static __always_inline void event_put(struct sbx_sandbox *sb, struct sbx_event *e)
{
	__u32 slot = sb->ring;
	__u64 wake = BPF_RB_NO_WAKEUP;
	void *ring;

	if (slot == SBX_NO_RING)
		return;
	e->sandbox = sb->id;
	ring = bpf_map_lookup_elem(&rings, &slot);
	if (ring && (e->flags & SBX_EVENT_LIMIT ||
		     bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= SBX_RING_WAKE_BYTES))
		wake = BPF_RB_FORCE_WAKEUP;
	if (!ring || bpf_ringbuf_output(ring, e, sizeof(*e), wake))
		__sync_fetch_and_add(&sb->events_dropped, 1);
}

/* `depth` as rows carry it, from the outermost root. */
static __always_inline void event_put_up(struct sbx_sandbox *sb, struct sbx_event *e, __u32 depth)
{
	e->depth = depth - sb->base_depth;
	event_put(sb, e);
	if (sb->parent)
		nest_event(sb->parent, e, depth);
}

/* A record is about a process; its leader tells. */
static __always_inline void event_init(struct sbx_event *e, __u32 kind, struct task_struct *leader)
{
	__builtin_memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->time_ns = bpf_ktime_get_boot_ns();
	e->start_ns = leader->start_boottime;
	e->pid = leader->tgid;
	e->ppid = leader->real_parent->tgid;
	__builtin_memcpy(e->comm, leader->comm, sizeof(e->comm));
}

#endif
