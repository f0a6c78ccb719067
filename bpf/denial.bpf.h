/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * denial: counts one refused act. Telemetry: a full map drops and counts, the verdict stands.
 */
#ifndef DENIAL_BPF_H
#define DENIAL_BPF_H

#include "maps.bpf.h"
#include "sbx/denial.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_DENIALS);
	__type(key, struct sbx_denial_key);
	__type(value, struct sbx_denial);
} denials SEC(".maps") __weak;

/*
 * denial.bpf.c: counts an act of the current task. 1 when the row is new: its text and device are the
 * caller's to fill. 0 when there was one already, or no room. A global function, verified once.
 */
extern int denial_put(struct sbx_denial_key *key, __u32 error, __u32 flags);

static __always_inline struct sbx_denial *denial_row(const struct sbx_denial_key *key)
{
	return bpf_map_lookup_elem(&denials, key);
}

#endif
