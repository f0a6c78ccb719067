/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/rings.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "base/own.h"
#include "sbx/kern_calls.h"

#define PREFILLED 16

static int ring_new(void)
{
	return bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sbx_ring", 0, 0, SBX_RING_BYTES, NULL);
}

static int fill(int rings_fd, int slots_fd, const __u32 *slots, const __u32 *rings, __u32 count)
{
	const struct sbx_ring_slot ready = { .ready = 1 };
	__u32 done = count;

	if (bpf_map_update_batch(rings_fd, slots, rings, &done, NULL))
		return -errno;
	for (__u32 i = 0; i < count; i++)
		if (bpf_map_update_elem(slots_fd, &slots[i], &ready, BPF_ANY))
			return -errno;
	return 0;
}

int rings_prefill(int rings_fd, int slots_fd)
{
	__u32 slots[PREFILLED], rings[PREFILLED], made = 0;
	int rc = 0;

	for (; made < PREFILLED && !rc; made++) {
		int fd = ring_new();

		if (fd < 0)
			rc = fd;
		slots[made] = made;
		rings[made] = (__u32)fd;
	}
	if (!rc)
		rc = fill(rings_fd, slots_fd, slots, rings, PREFILLED);
	while (made--)
		if ((int)rings[made] >= 0)
			close((int)rings[made]);
	return rc;
}

int rings_put(int rings_fd, uint32_t slot)
{
	own_fd ring = ring_new();
	__u32 value = (__u32)ring, one = 1;

	if (ring < 0)
		return ring;
	return bpf_map_update_batch(rings_fd, &slot, &value, &one, NULL) ? -errno : 0;
}

int rings_get(int rings_fd, uint32_t slot)
{
	__u32 id;
	int fd;

	if (bpf_map_lookup_elem(rings_fd, &slot, &id))
		return -errno;
	fd = bpf_map_get_fd_by_id(id);
	return fd < 0 ? -errno : fd;
}
