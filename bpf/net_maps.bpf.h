/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* net_maps: the rows of network policies, and whose a socket is. */
#ifndef NET_MAPS_BPF_H
#define NET_MAPS_BPF_H

#include "rows.bpf.h"
#include "sbx/net.h"

/* How many sandboxes have a network policy: while there are none, the hooks do nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} net_live SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_NET_RULES);
	__type(key, struct sbx_net_key);
	__type(value, struct sbx_net_ports);
} net_rules SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_NET_NAMED);
	__type(key, struct sbx_net_named_key);
	__type(value, struct sbx_net_named);
} net_named SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_NET_UNIX);
	__type(key, struct sbx_net_unix_key);
	__type(value, __u32);
} net_unix SEC(".maps") __weak;

/* The sandbox whose member made a socket. Goes with the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} net_socks SEC(".maps") __weak;

static __always_inline __u64 *net_live_count(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&net_live, &zero);
}

/* The sandbox to be asked, 0: none. A worker of io_uring acts for its process: where no hook saw it being
 * made, by its leader's row. */
static __always_inline __u64 net_subject(void)
{
	__u64 *live = net_live_count();
	struct task_struct *task;
	struct sbx_task *row;

	if (!live || !*live)
		return 0;
	task = bpf_get_current_task_btf();
	row = row_of(task);
	if (!row && task->flags & PF_IO_WORKER)
		row = row_of(task->group_leader);
	return row ? row->sandbox : 0;
}

#endif
