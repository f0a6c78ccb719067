/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings: the ring buffers in the slots of the map `rings`.
 *
 * Made once and reused; who holds a slot is decided in the kernel half (sbx_ring_slot).
 */
#ifndef KERN_RINGS_H
#define KERN_RINGS_H

#include <stdint.h>

/* Fills the first slots at load, in one update, so that a start need not wait for an RCU grace
 * period. */
int rings_prefill(int rings_fd, int slots_fd);
/* Puts a new ring into one slot; up to some 15 ms. */
int rings_put(int rings_fd, uint32_t slot);
/* Descriptor of the ring in a slot, the caller closes it; negative errno. */
int rings_get(int rings_fd, uint32_t slot);

#endif
