/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of a run, in the order of contract 52: everything that bounds the tree is in force, read
 * back and recorded before the command executes its first instruction. Any failure takes back what
 * was made, through run_release.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/own.h"
#include "kern/sudo.h"
#include "policy/spec_environ.h"
#include "run/isolation.h"
#include "run/meta.h"
#include "run/nest.h"
#include "run/state.h"

extern char **environ;

/* Whose identity the command gets: --user, else the user behind sudo, else the caller unchanged. */
static int resolve_user(struct run *run, struct err *err)
{
	const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
	const char *name = run->spec->user ? run->spec->user : sudo;
	int rc;

	if (!name)
		return 0;
	rc = user_lookup(&run->user, name, run->spec->user ? run->spec->group : getenv("SUDO_GID"),
			 err);
	if (rc < 0)
		return rc;
	run->switch_user = run->user.uid != geteuid() || run->user.gid != getegid();
	return 0;
}

static int resolve_environ(struct run *run, struct err *err)
{
	own_str path = run->spec->pass_path ? sudo_caller_path() : NULL;
	struct spec_user user = { .path = path };
	int rc;

	if (run->switch_user) {
		user.name = run->user.name[0] ? run->user.name : NULL;
		user.home = run->user.home;
		user.shell = run->user.shell;
	}
	rc = confinement_cache(run, user.home ? user.home : getenv("HOME"), &user.cache, err);
	if (rc < 0)
		return rc;
	return spec_environ(run->spec, environ, &user, run->id_text, &run->environ_vector, err);
}

static int open_kern(struct run *run, struct err *err)
{
	return kern_open(&run->kern, err);
}

static uint64_t asked(const struct run *run, enum limit_id id)
{
	return limit_in_force(&run->limits[id]) ? run->limits[id].value : CGROUP_NOT_ASKED;
}

static void drop_limits_of(struct run *run, const char *capability)
{
	for (int i = 0; i < LIMIT__COUNT; i++)
		if (limit_table[i].capability && !strcmp(limit_table[i].capability, capability) &&
		    asked(run, (enum limit_id)i) != CGROUP_NOT_ASKED)
			run->limits[i].origin = ORIGIN_WAIVED;
}

/* A limit the host cannot enforce ends the start, unless the caller named its capability as reducible. */
static int make_cgroup(struct run *run, struct err *err)
{
	char name[32];
	struct cgroup_opts opts = { .name = name,
				    .parent = run->spec->cgroup_parent,
				    .want_memory_peak = true };
	int rc;

	snprintf(name, sizeof(name), "sbx-%s", run->id_text);
	for (;;) {
		opts.limits = (struct cgroup_limits){
			.memory_bytes = asked(run, LIMIT_MEMORY),
			.swap_bytes = asked(run, LIMIT_SWAP),
			.pids = asked(run, LIMIT_PIDS),
			.cpu_millicores = asked(run, LIMIT_CPUS),
		};
		rc = cgroup_create(&run->cgroup, &opts, err);
		if (rc == 0 || err->category != ERR_CANNOT_ENFORCE ||
		    !spec_may_reduce(run->spec, err->capability))
			return rc;
		result_clause(&run->result, err->capability, "none", true, true, false,
			      "reduced by request: %s", err->text);
		drop_limits_of(run, err->capability);
	}
}

/* A run inside another one ends with it, whatever it was promised: then that is the limit on its record. */
static void inherit_deadline(struct run *run)
{
	uint64_t due = nest_deadline(run->kern, run->id), now = clock_boot_ns();
	struct spec_limit *wall = &run->limits[LIMIT_WALL];
	uint64_t left = due > now ? due - now : 1;

	if (due && (!limit_in_force(wall) || wall->value > left))
		*wall = (struct spec_limit){ .origin = ORIGIN_INHERITED, .value = left };
}

static int make_sandbox(struct run *run, struct err *err)
{
	struct kern_sandbox_opts opts = {
		.max_execs = asked(run, LIMIT_EXECS),
		.max_depth = asked(run, LIMIT_DEPTH),
		.cgroup_id = cgroup_id(run->cgroup),
		.cgroup_level = cgroup_level(run->cgroup),
		.keeper_owns = true,
		.want_events = true,
	};
	int rc;

	if (opts.max_execs == CGROUP_NOT_ASKED)
		opts.max_execs = 0;
	if (opts.max_depth == CGROUP_NOT_ASKED)
		opts.max_depth = 0;
	if (run->owner.fd >= 0 && run->spec->owner_mode != OWNER_FD)
		opts.owner_tgid = (uint32_t)run->owner_pid;
	rc = kern_sandbox_create(run->kern, &opts, &run->id, err);
	if (rc < 0)
		run->id = 0;
	else
		inherit_deadline(run);
	return rc;
}

/* Only for those who share it: a run without limits has no timer. */
static int make_backstop(struct run *run, struct err *err)
{
	if (run->backstop < 0)
		run->backstop = clock_timer_new();
	return run->backstop < 0 ? err_set(err, run->backstop, "make a timer") : 0;
}

static int make_pidns(struct run *run, struct err *err)
{
	bool watches = !kern_facts(run->kern)->exit_hook_kills && run->owner.fd >= 0;
	struct pidns_ends ends = { .owner_fd = watches ? run->owner.fd : -1,
				   .owner_events = launch_owner_events(run) };
	int rc;

	if (run->spec->pid_ns != TRI_ON)
		return 0;
	rc = make_backstop(run, err);
	if (rc < 0)
		return rc;
	ends.timer_fd = run->backstop;
	return pidns_start(&run->pidns, &ends, err);
}

/* Kernels whose exit hook cannot send signals get the watcher: somebody must outlive us. And somebody must keep the
 * deadline while we are stopped. */
int launch_watcher(struct run *run, struct err *err)
{
	struct watcher_opts opts = {
		.id = run->id,
		.cgroup = cgroup_path(run->cgroup),
		.owner_fd = run->owner.fd,
		.owner_events = launch_owner_events(run),
		.files = run->confinement.files,
	};
	int rc;

	if (run->pidns.pid > 0 || run->watcher.pidfd >= 0)
		return 0;
	if (kern_facts(run->kern)->exit_hook_kills && !limit_in_force(&run->limits[LIMIT_WALL]))
		return 0;
	rc = make_backstop(run, err);
	if (rc < 0)
		return rc;
	opts.timer_fd = run->backstop;
	return watcher_start(&run->watcher, run->kern, &opts, err);
}

static int make_child(struct run *run, struct err *err)
{
	struct spawn_opts *opts = &run->spawn;
	const struct spec *spec = run->spec;
	int rc;

	opts->argv = run->argv;
	opts->envp = run->environ_vector;
	opts->search_path = spec_environ_get(run->environ_vector, "PATH");
	if (!opts->search_path)
		opts->search_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	opts->chdir = spec->chdir ? spec->chdir : run->workdir[0] ? run->workdir : spec->workdir;
	opts->cgroup = run->cgroup;
	snprintf(run->links, sizeof(run->links), "%s/exec", rundir_top());
	opts->links = run->links;
	opts->set_user = run->switch_user;
	opts->uid = run->user.uid;
	opts->gid = run->user.gid;
	opts->groups = spec->keep_groups ? NULL : run->user.groups;
	opts->group_count = run->user.group_count;
	opts->max_file_bytes = asked(run, LIMIT_MAX_FILE);
	opts->nofile = asked(run, LIMIT_NOFILE);
	opts->drop_caps = spec->drop_privileges;
	opts->no_new_privs = spec->drop_privileges || run->confinement.asked;
	opts->confine = run->confinement.opts.policy ? &run->confinement.opts : NULL;
	opts->pidns = run->pidns.pid > 0 ? &run->pidns : NULL;
	opts->mounts = run->mounts.workdir || run->mounts.private_tmp || run->mounts.proc ||
				       run->mounts.bind_count
			       ? &run->mounts
			       : NULL;
	network_spawn(run, opts);
	isolation_spawn(run, opts);
	rc = spawn_start(&run->child, opts, err);
	run->result.launched_by_path = run->child.by_path;
	return rc;
}

static int enter_cgroup(struct run *run, struct err *err)
{
	return cgroup_enter(run->cgroup, run->child.pid, err);
}

static int verify_label(struct run *run, struct err *err)
{
	return kern_sandbox_verify_root(run->kern, run->id, run->child.pid, run->child.pidfd, err);
}

static int wait_ready(struct run *run, struct err *err)
{
	int rc = spawn_ready(&run->child, &run->spawn, RUN_READY_TIMEOUT_MS, err);
	struct cgroup_usage usage;
	char limit[64];

	if (rc != -ECHILD)
		return rc;
	cgroup_usage(run->cgroup, &usage);
	if (usage.oom_kills == CGROUP_NOT_ASKED || !usage.oom_kills)
		return rc;
	limit_text(LIMIT_MEMORY, run->limits[LIMIT_MEMORY].value, limit, sizeof(limit));
	return err_say(err, ERR_VALIDATION, rc, "--memory %s: too little to start a process in",
		       limit);
}

static int verify_limits(struct run *run, struct err *err)
{
	return cgroup_verify(run->cgroup, run->child.pid, err);
}

static int record(struct run *run, struct err *err)
{
	struct meta_facts facts = {
		.root_pid = run->child.pid,
		.cgroup_driver = cgroup_driver_name(cgroup_driver(run->cgroup)),
		.cgroup_path = cgroup_path(run->cgroup),
		.cgroup_id = cgroup_id(run->cgroup),
	};

	run_clauses(run, &run->result);
	result_sentence(&run->result);
	return meta_write(&run->dir, &run->result, &facts, err);
}

static int release(struct run *run, struct err *err)
{
	run->started_ns = clock_boot_ns();
	return spawn_release(&run->child, err);
}

static int exec_result(struct run *run, struct err *err)
{
	return spawn_result(&run->child, &run->spawn, err);
}

/* By name, so that tests can crash or fail at each. */
static const struct {
	const char *fault;
	int (*step)(struct run *run, struct err *err);
} start_order[] = {
	{ "start_user", resolve_user },
	{ "start_owner", launch_owner },
	{ "start_environ", resolve_environ },
	{ "start_dir", launch_dir },
	{ "start_kern",
	  open_kern }, /* may mount a bpffs below the directory, which is to be ours then */
	{ "start_cgroup", make_cgroup },
	{ "start_mounts", launch_mounts },
	{ "start_names", names_start },
	{ "start_cache", confinement_make_cache },
	{ "start_policy", confinement_resolve },
	{ "start_network", network_resolve },
	{ "start_pidns",
	  make_pidns }, /* before the sandbox: the seed is for the command, not for our init */
	{ "start_sandbox", make_sandbox },
	{ "start_streams", launch_streams },
	{ "start_child", make_child },
	{ "start_enter", enter_cgroup },
	{ "start_label", verify_label },
	{ "start_record", record }, /* while the child prepares itself; taken back when it fails */
	{ "start_ready", wait_ready },
	{ "start_files", confinement_enforce },
	{ "start_watcher",
	  launch_watcher }, /* after the child, which the seed is for; holds the files */
	{ "start_verify", verify_limits },
	{ "start_rules", network_enforce },
	{ "start_apart", network_verify },
	{ "start_release", release },
	{ "start_sources",
	  deadline_sources }, /* while it execs: signals, rings and pidfds keep what happened */
	{ "start_exec", exec_result },
};

int run_launch(struct run *run, struct err *err)
{
	for (size_t i = 0; i < sizeof(start_order) / sizeof(*start_order); i++) {
		int rc = FAULT(start_order[i].fault);

		if (rc < 0)
			return err_set(err, rc, "%s", start_order[i].fault);
		rc = start_order[i].step(run, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The steps that decide what can be enforced, taken and taken back: what a plan names was tried. */
int run_plan(const struct spec *spec, struct result *out, struct err *err)
{
	static int (*const steps[])(struct run *, struct err *) = {
		resolve_user, open_kern,     resolve_environ,	  make_cgroup,
		make_pidns,   launch_mounts, confinement_resolve, network_resolve
	};
	struct loop loop = { .epoll_fd = -1, .timer_fd = -1 };
	struct run *run;
	int rc = run_new(&run, spec, &loop, NULL, getppid(), err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(*steps); i++)
		rc = steps[i](run, err);
	if (rc == 0) {
		run_clauses(run, &run->result);
		result_sentence(&run->result);
		memcpy(out->spec_digest, run->result.spec_digest, sizeof(out->spec_digest));
		memcpy(out->tier_sentence, run->result.tier_sentence, sizeof(out->tier_sentence));
		memcpy(out->clauses, run->result.clauses, sizeof(out->clauses));
		out->clause_count = run->result.clause_count;
		memcpy(out->limits, run->result.limits, sizeof(out->limits));
	}
	run_release(run);
	run_free(run);
	return rc;
}
