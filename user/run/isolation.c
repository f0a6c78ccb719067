/* SPDX-License-Identifier: Apache-2.0 */
#include "run/isolation.h"

#include "base/fault.h"
#include "run/state.h"

#define ISOLATION "process_isolation"

static bool asked(const struct run *run)
{
	return run->spec->drop_privileges && !run->spec->attach;
}

void isolation_spawn(struct run *run, struct spawn_opts *opts)
{
	if (!asked(run))
		return;
	run->network.seccomp.guard = !FAULT("porous_guard");
	opts->seccomp = &run->network.seccomp;
	opts->apart = !FAULT("porous_apart");
	opts->drop_groups = !run->spec->keep_groups;
	opts->drop_caps = opts->drop_caps && !FAULT("porous_caps");
}

void isolation_clauses(const struct run *run, struct result *r)
{
	bool pids = run->spec->pid_ns == TRI_ON;

	if (!asked(run))
		result_clause(r, ISOLATION, pids ? "pid namespace" : "not asked", pids, pids, pids,
			      NULL);
	else if (pids)
		result_clause(r, ISOLATION, "pid and ipc namespace, seccomp", true, true, true,
			      NULL);
	else
		result_clause(r, ISOLATION, "ipc namespace, seccomp", true, true, false,
			      "--pid-ns off: processes of the same user are in reach");
}
