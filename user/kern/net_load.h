/* SPDX-License-Identifier: Apache-2.0 */
/* net_load: the network hooks, a part that comes with the first network policy. */
#ifndef KERN_NET_LOAD_H
#define KERN_NET_LOAD_H

#include "kern/half.h"

/* Whether a child under an empty policy is refused what is outside, and not what is its own. */
bool net_try(struct kern *k, char detail[SBX_DETAIL]);

/* Sets the generation that holds for a sandbox; `space` is the cookie of its own network namespace, or
 * 0. The rows of the generation are in place. */
int net_control(struct kern *k, uint64_t sandbox, uint32_t what, uint64_t generation,
		uint64_t space);

#endif
