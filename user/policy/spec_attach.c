/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/spec_attach.h"

#include <errno.h>

static int refuse(struct err *err, const char *option, const char *why)
{
	return err_say(err, ERR_VALIDATION, -EINVAL, "%s: %s", option, why);
}

/* Options of a start, which has been. */
static int check_start(const struct spec *spec, struct err *err)
{
	static const char late[] = "the process runs already; this is for `sbxctl run`";
	const struct {
		bool said;
		const char *option;
	} rows[] = {
		{ spec->mount_count, "--mount" },
		{ spec->workdir_mode != WORKDIR_INHERIT, "--workdir" },
		{ spec->chdir, "--chdir" },
		{ spec->cache, "--cache" },
		{ spec->pid_ns == TRI_ON && !spec->drop_privileges, "--pid-ns on" },
		{ spec->leftovers != LEFTOVERS_KILL, "--leftovers" },
		{ spec->detach, "-d" },
		{ spec->shell, "-c" },
		{ spec->cgroup_parent, "--cgroup-parent" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].said)
			return refuse(err, rows[i].option, late);
	return 0;
}

/* What a bound needs to be in force on a running tree. */
static const char *hindrance(enum limit_id id)
{
	switch (id) {
	case LIMIT_WALL:
	case LIMIT_EXECS:
	case LIMIT_DEPTH:
		return NULL;
	case LIMIT_MEMORY:
	case LIMIT_SWAP:
	case LIMIT_CPUS:
	case LIMIT_PIDS:
	case LIMIT_CPU_TIME:
	case LIMIT_IDLE:
		return "an attached tree stays in its own control groups, where this build "
		       "bounds and measures nothing";
	default:
		return "this cannot be put on a process that runs already";
	}
}

static int check_limits(struct spec *spec, struct err *err)
{
	for (int i = 0; i < LIMIT__COUNT; i++) {
		struct spec_limit *limit = &spec->limits[i];
		const char *why = hindrance((enum limit_id)i);

		if (!why || !limit_in_force(limit))
			continue;
		if (limit->origin == ORIGIN_EXPLICIT)
			return err_cannot(err,
					  limit_table[i].capability ? limit_table[i].capability
								    : "attach",
					  "%s: %s", limit_table[i].option, why);
		limit->origin = ORIGIN_WAIVED;
	}
	return 0;
}

/* Names are answered by a resolver of the run's own, which a tree that runs already does not ask. Those of a profile
 * admit nothing. */
static int check_names(const struct spec *spec, struct err *err)
{
	const struct net_policy *net = &spec->net;

	for (size_t i = 0; i < net->rule_count; i++)
		if (net->rules[i].name && net->rules[i].level == FILE_LEVEL_COMMAND_LINE)
			return err_cannot(err, "network_restriction",
					  "--allow-net %s: an attached tree asks its own resolver; "
					  "give addresses",
					  net->rules[i].name);
	return 0;
}

int spec_check_attach(struct spec *spec, struct err *err)
{
	int rc = check_start(spec, err);

	if (!rc)
		rc = check_names(spec, err);
	if (!rc)
		rc = check_limits(spec, err);
	if (rc)
		return rc;
	spec->pid_ns = TRI_OFF;
	spec->private_tmp = false;
	/* Where somebody else owns the tree, the root is only its first process. */
	spec->leftovers = spec->owner_mode == OWNER_PARENT ? LEFTOVERS_KILL : LEFTOVERS_WAIT;
	return 0;
}
