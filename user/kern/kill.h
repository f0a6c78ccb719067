/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill: takes a tree out, and nobody else.
 *
 * Who is killed is decided by rows alone: each member by a pidfd that is proven to be its. A tree that goes on
 * forking cannot outrun that where its forks are refused or its children are killed at birth; on kernels that can do
 * neither, one that still lives after a while is killed by its group, from which strangers are moved right before.
 */
#ifndef KERN_KILL_H
#define KERN_KILL_H

#include "kern/kern.h"

struct kill_state { /* of the rounds of one kill; zero at first */
	uint64_t since_ns;
	unsigned int rounds;
};

/* One round; repeat until the sandbox's live is 0 and its group is empty. `group` is the v2 directory, NULL: none. */
void kill_round(struct kern *k, uint64_t id, const char *group, struct kill_state *state);

#endif
