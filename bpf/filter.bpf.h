/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * filter: a load and a compare that spare tasks outside every sandbox the look-up of a row.
 *
 * A slot counts the rows whose keys fall into it. It goes up before a row can be seen and down
 * after it is gone, so it may count too many for a moment, never too few: 0 means that there is no
 * row; anything else, a slot that cannot be read included, to look. It decides nothing more.
 */
#ifndef FILTER_BPF_H
#define FILTER_BPF_H

#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SBX_FILTER_SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} row_filter SEC(".maps") __weak;

/* Half an address, as a number. */
static __always_inline __u32 address_bits(__u64 address)
{
	__u32 bits;

	/* A move of its own: the verifier takes half a pointer for a number, but lets nobody
	 * calculate with the pointer or store half of it. */
	asm volatile("%0 = %1" : "=w"(bits) : "w"((__u32)address));
	return bits;
}

static __always_inline __u32 *filter_slot(__u64 key)
{
	__u32 slot = SBX_FILTER_SLOT(address_bits(key));

	return bpf_map_lookup_elem(&row_filter, &slot);
}

/* False: there is no row of this key. */
static __always_inline bool filter_has(__u64 key)
{
	__u32 *count = filter_slot(key);

	return !count || *(volatile __u32 *)count;
}

static __always_inline void filter_add(__u64 key, __s32 n)
{
	__u32 *count = filter_slot(key);

	if (count)
		__sync_fetch_and_add(count, n);
}

#endif
