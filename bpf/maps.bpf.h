/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * maps: the state of the kernel half. Each map is weak, so that every object that includes this
 * names the same one.
 */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sbx/kern_calls.h"

/* task_struct address -> row. Not preallocated: a host pays for the threads it tracks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_TASKS);
	__type(key, __u64);
	__type(value, struct sbx_task);
} tasks SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_SANDBOXES);
	__type(key, __u64);
	__type(value, struct sbx_sandbox);
} sandboxes SEC(".maps") __weak;

/*
 * tgid -> 1 for every process whose death may kill a sandbox. Only a filter, which keeps the
 * exit of everybody else cheap: which sandboxes die is read from their rows. Deleted when the
 * process dies, not with the sandbox, so that registering needs no reference count.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_OWNERS);
	__type(key, __u32);
	__type(value, __u32);
} owners SEC(".maps") __weak;

struct sbx_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SBX_RING_BYTES);
};

/*
 * One ring buffer a slot, made when first claimed and then reused: putting a map into a slot
 * waits for an RCU grace period, which would be most of a start.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SBX_MAX_RINGS);
	__type(key, __u32);
	__array(values, struct sbx_ring);
} rings SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SBX_MAX_RINGS);
	__type(key, __u32);
	__type(value, struct sbx_ring_slot);
} ring_slots SEC(".maps") __weak;

struct death {
	__u32 signal;
	__u32 tgid;
};

/*
 * A process whose end has been counted. A token is needed for the moment in which the last threads
 * of one process exit together, or until the row of a missed exit is found: the oldest may go.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct death);
	__type(value, __u32);
} deaths SEC(".maps") __weak;

/* What the iter/task program is to do for the thread that reads it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_REQUESTS);
	__type(key, __u64); /* bpf_get_current_pid_tgid() */
	__type(value, struct sbx_control);
} requests SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sbx_stats);
} stats SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sbx_facts);
} facts SEC(".maps") __weak;

#define STAT_ADD(field)                                                     \
	do {                                                                \
		__u32 zero_ = 0;                                            \
		struct sbx_stats *s_ = bpf_map_lookup_elem(&stats, &zero_); \
		if (s_)                                                     \
			__sync_fetch_and_add(&s_->field, 1);                \
	} while (0)

#endif
