/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/capability.h"

#include <string.h>

const struct capability_info capability_table[CAP__COUNT] = {
	[CAP_PROCESS_TRACKING] = { "process_tracking", "tracking", true, true },
	[CAP_TREE_KILL] = { "tree_kill", "kill", true, true },
	[CAP_KERNEL_KILL] = { "kernel_kill", "kernel kill", true, true },
	[CAP_TIME_BUDGET] = { "time_budget", "time", false, false },
	[CAP_OUTPUT_CAPTURE] = { "output_capture", "output", false, false },
	[CAP_MEMORY_CAP] = { "memory_cap", "memory", false, true },
	[CAP_CPU_CAP] = { "cpu_cap", "cpu", false, true },
	[CAP_PIDS_CAP] = { "pids_cap", "pids", false, true },
	[CAP_DISK_CAP] = { "disk_cap", "disk", false, true },
	[CAP_FILESYSTEM_CONFINEMENT] = { "filesystem_confinement", "files", true, true },
	[CAP_FILESYSTEM_DENY_FUTURE] = { "filesystem_deny_future", "future files", false, true },
	[CAP_NETWORK_RESTRICTION] = { "network_restriction", "network", true, true },
	[CAP_PROCESS_ISOLATION] = { "process_isolation", "isolation", true, true },
	[CAP_PRIVILEGE_SEPARATION] = { "privilege_separation", "privileges", true, true },
	[CAP_ATTACH] = { "attach", "attach", false, true },
	[CAP_LSM_ENFORCEMENT] = { "lsm_enforcement", "lsm", false, true },
};

int capability_find(const char *name)
{
	for (int i = 0; i < CAP__COUNT; i++)
		if (!strcmp(capability_table[i].name, name))
			return i;
	return -1;
}
