/* SPDX-License-Identifier: Apache-2.0 */
/* tier: what is in force for this run, clause by clause, as it was found at launch. */
#include <string.h>

#include "run/attach.h"
#include "run/attach_policy.h"
#include "run/isolation.h"
#include "run/state.h"

static void tracking(const struct run *run, struct result *r)
{
	const struct kern_facts *f = kern_facts(run->kern);
	const char *kill = f->exit_hook_kills	? "exit_hook"
			   : run->pidns.pid > 0 ? "pid_namespace"
						: "watcher";

	result_clause(r, "process_tracking", f->lsm ? "bpf lsm task_alloc" : "bpf tp_btf", true,
		      true, true, "%u copies of each hook", f->hook_copies);
	result_clause(r, "tree_kill", "pidfds of its rows", true, true, true, "%s",
		      cgroup_driver_name(cgroup_driver(run->cgroup)));
	result_clause(r, "kernel_kill", kill, true, true, true, "%s",
		      f->exit_hook_kills ? "" : f->exit_hook_detail);
	result_clause(r, "lsm_enforcement", f->lsm ? "bpf lsm" : "none", true, true, f->lsm, "%s",
		      f->lsm_detail);
}

static bool has_clause(const struct result *r, const char *capability)
{
	for (size_t i = 0; i < r->clause_count; i++)
		if (!strcmp(r->clauses[i].capability, capability))
			return true;
	return false;
}

static void limits(const struct run *run, struct result *r)
{
	static const struct {
		const char *capability, *mechanism_v1, *mechanism_v2;
		enum limit_id id;
	} rows[] = {
		{ "memory_cap", "memory v1", "memory v2", LIMIT_MEMORY },
		{ "cpu_cap", "cpu v1", "cpu v2", LIMIT_CPUS },
		{ "pids_cap", "pids v1", "pids v2", LIMIT_PIDS },
		{ "disk_cap", "tmpfs", "tmpfs", LIMIT_DISK },
	};
	bool hybrid = cgroup_driver(run->cgroup) == CGROUP_HYBRID;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (has_clause(r, rows[i].capability))
			continue; /* reduced by request */
		if (limit_in_force(&run->limits[rows[i].id]))
			result_clause(r, rows[i].capability,
				      hybrid ? rows[i].mechanism_v1 : rows[i].mechanism_v2, true,
				      true, true, NULL);
		else
			result_clause(r, rows[i].capability, "not asked", false, false, false,
				      NULL);
	}
}

static void privileges(const struct run *run, struct result *r)
{
	bool dropped = run->spec->drop_privileges && !run->spec->attach;
	bool late = run->spec->drop_privileges && run->spec->attach;
	bool any = dropped || (run->switch_user && !run->spec->attach);
	const char *how = dropped && run->switch_user ? "uid, no capabilities, no_new_privs"
			  : dropped		      ? "no capabilities, no_new_privs"
			  : any			      ? "uid"
			  : late		      ? "none"
						      : "not asked";

	result_clause(r, "privilege_separation", how, any, any, any,
		      late ? "a process that runs already keeps its privileges" : NULL);
}

void run_clauses(const struct run *run, struct result *r)
{
	bool timed = limit_in_force(&run->limits[LIMIT_WALL]);
	bool attached = run->spec->attach;

	for (int i = 0; i < LIMIT__COUNT; i++)
		r->limits[i].asked = run->limits[i];
	tracking(run, r);
	attach_clauses(run, r);
	limits(run, r);
	result_clause(r, "time_budget", timed ? "timerfd" : "waived", true, timed, timed, NULL);
	result_clause(r, "output_capture",
		      attached	      ? "not asked"
		      : run->terminal ? "pty"
				      : "pipes",
		      !attached, !attached, !attached, NULL);
	if (attached) {
		attach_policy_clauses(run, r);
	} else {
		confinement_clauses(run, r);
		network_clauses(run, r);
	}
	isolation_clauses(run, r);
	privileges(run, r);
}
