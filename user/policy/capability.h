/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capability: the closed list of what a host may be able to enforce (contract 71).
 *
 * Probes, plans, tier clauses, the tier sentence and the JSON schema all take their names from
 * here.
 */
#ifndef POLICY_CAPABILITY_H
#define POLICY_CAPABILITY_H

#include <stdbool.h>

enum capability {
	CAP_PROCESS_TRACKING,
	CAP_TREE_KILL,
	CAP_KERNEL_KILL,
	CAP_TIME_BUDGET,
	CAP_OUTPUT_CAPTURE,
	CAP_MEMORY_CAP,
	CAP_CPU_CAP,
	CAP_PIDS_CAP,
	CAP_DISK_CAP,
	CAP_FILESYSTEM_CONFINEMENT,
	CAP_FILESYSTEM_DENY_FUTURE,
	CAP_NETWORK_RESTRICTION,
	CAP_PROCESS_ISOLATION,
	CAP_PRIVILEGE_SEPARATION,
	CAP_ATTACH,
	CAP_LSM_ENFORCEMENT,
	CAP__COUNT,
};

struct capability_info {
	const char *name;  /* "process_tracking" */
	const char *label; /* its word in the tier sentence: "tracking" */
	bool always;	   /* the sentence names it even when no clause does: "not asked" */
	bool host_fact;	   /* false: enforced by the keeper itself, reported, never a gate */
};
extern const struct capability_info capability_table[CAP__COUNT];

/* -1 when there is no such capability. */
int capability_find(const char *name);

#endif
