/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* fs_live: how many sandboxes have a file policy. */
#ifndef FS_LIVE_BPF_H
#define FS_LIVE_BPF_H

#include "maps.bpf.h"

/* While there are none, the file hooks do nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} fs_live SEC(".maps") __weak;

static __always_inline __u64 *fs_live_count(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&fs_live, &zero);
}

#endif
