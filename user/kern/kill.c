/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/kill.h"

#include <signal.h>

#include "base/clock.h"
#include "kern/cgroup_tree.h"
#include "kern/strangers.h"

#define OUTRUN_NS 30000000ULL /* a tree that is not one step ahead of us is dead by then */
#define LOOK_ROUNDS 8	      /* between looks for strangers that keep an empty tree's group */

/*
 * cgroup.kill takes whoever is in the group at that moment, and somebody may have come since the look. So it is for those
 * kernels only on which a fork cannot be stopped by its label: before 6.16 without BPF LSM.
 */
static bool can_be_outrun(const struct kern *k)
{
	return !kern_facts(k)->lsm && !kern_facts(k)->exit_hook_kills;
}

void kill_round(struct kern *k, uint64_t id, const char *group, struct kill_state *state)
{
	unsigned int round = state->rounds++;
	struct sbx_sandbox row;

	if (!round)
		state->since_ns = clock_boot_ns();
	if (!kern_sandbox_read(k, id, &row) && row.live) {
		kern_signal_tree(k, id, SIGKILL);
		if (group && can_be_outrun(k) && clock_boot_ns() - state->since_ns > OUTRUN_NS &&
		    strangers_evict(k, id, group) == 0)
			cgroup_tree_kill(group);
	} else if (group && round % LOOK_ROUNDS == 1) {
		strangers_evict(k, id, group);
	}
}
