/* SPDX-License-Identifier: Apache-2.0 */
/* filter: the counts in front of the rows, held against the rows; rows put in by hand, counted. */
#ifndef KERNEL_FILTER_H
#define KERNEL_FILTER_H

#include "keeper.h"

#include <bpf/bpf.h>

#include "kern/half.h"

static inline void filter_raise(struct kern *k, __u32 slot, __s32 n)
{
	int fd = half_fd(k, HALF_FILTER);
	__u32 count;

	assert_int_equal(bpf_map_lookup_elem(fd, &slot, &count), 0);
	count += (__u32)n;
	assert_int_equal(bpf_map_update_elem(fd, &slot, &count, BPF_EXIST), 0);
}

/* Each slot counts the rows that fall into it. Nothing forks or ends in a sandbox meanwhile. */
static inline void filter_is_exact(struct kern *k)
{
	static __u32 expected[SBX_FILTER_SLOTS];
	int rows = half_fd(k, HALF_TASKS), counts = half_fd(k, HALF_FILTER);
	__u64 key, *at = NULL;
	__u32 count;

	memset(expected, 0, sizeof(expected));
	for (; !bpf_map_get_next_key(rows, at, &key); at = &key)
		expected[SBX_FILTER_SLOT(key)]++;
	for (__u32 slot = 0; slot < SBX_FILTER_SLOTS; slot++) {
		assert_int_equal(bpf_map_lookup_elem(counts, &slot, &count), 0);
		if (count != expected[slot])
			fail_msg("slot %u counts %u of %u rows", slot, count, expected[slot]);
	}
}

static inline void row_plant(struct kern *k, __u64 key, const struct sbx_task *row)
{
	filter_raise(k, SBX_FILTER_SLOT(key), 1);
	assert_int_equal(bpf_map_update_elem(half_fd(k, HALF_TASKS), &key, row, BPF_NOEXIST), 0);
}

static inline void row_pull(struct kern *k, __u64 key)
{
	if (!bpf_map_delete_elem(half_fd(k, HALF_TASKS), &key))
		filter_raise(k, SBX_FILTER_SLOT(key), -1);
}

#endif
