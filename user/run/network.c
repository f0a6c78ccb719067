/* SPDX-License-Identifier: Apache-2.0 */
#include "run/network.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "kern/netns.h"
#include "policy/spec_environ.h"
#include "run/state.h"

#define RESTRICTION "network_restriction"

bool network_asked(const struct run *run)
{
	enum net_mode mode = run->spec->net.mode;

	return mode == NET_NONE || mode == NET_ALLOW;
}

/* "~/" is the home that the command has. */
static char *path_of(const struct run *run, const struct net_unix *named)
{
	const char *home = spec_environ_get(run->environ_vector, "HOME");
	char *path = NULL;

	if (named->name[0] != '~')
		return strdup(named->name);
	return asprintf(&path, "%s%s", home ? home : "", named->name + 1) < 0 ? NULL : path;
}

static int find_unixes(struct run *run, struct err *err)
{
	const struct net_policy *policy = &run->spec->net;
	char *kept[NET_UNIX_MAX];
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < policy->unix_count; i++) {
		if (policy->unixes[i].abstract)
			continue;
		kept[count] = path_of(run, &policy->unixes[i]);
		if (kept[count])
			count++;
		else
			rc = err_set(err, -ENOMEM, "--allow-unix");
	}
	if (rc == 0)
		rc = unixes_find(&run->network.unixes, kept, count, err);
	while (count)
		free(kept[--count]);
	return rc;
}

static const struct net_unix *abstract_one(const struct net_policy *policy)
{
	for (size_t i = 0; i < policy->unix_count; i++)
		if (policy->unixes[i].abstract)
			return &policy->unixes[i];
	return NULL;
}

/* Where LSM attaches the hooks decide on abstract names one by one, elsewhere Landlock on all of them. */
static int judge_abstract(struct run *run, struct err *err)
{
	const struct net_policy *policy = &run->spec->net;
	const struct net_unix *named = abstract_one(policy);

	if (named && policy->mode == NET_NONE)
		return err_cannot(
			err, RESTRICTION,
			"@%s: with --net none the tree has a network namespace of its own, "
			"where that name is not; --net allow leaves it in reach",
			named->name);
	if (policy->mode == NET_NONE || run->network.lsm)
		return 0;
	if (named)
		return err_cannot(err, RESTRICTION,
				  "@%s: without BPF LSM abstract names are allowed all or none",
				  named->name);
	if (confine_landlock_abi() < CONFINE_ABI_SCOPED)
		return err_cannot(err, RESTRICTION,
				  "abstract unix sockets of others: without BPF LSM that needs "
				  "Landlock ABI %d (Linux 6.12); --net none has no such gap",
				  CONFINE_ABI_SCOPED);
	run->confinement.opts.scoped = true;
	return 0;
}

/* What the hooks see and tell the filter must not refuse before them. */
int network_resolve(struct run *run, struct err *err)
{
	struct network *n = &run->network;
	int rc;

	if (!network_asked(run))
		return 0;
	n->hooks = kern_net_available(run->kern, &n->why);
	if (!n->hooks && run->spec->net.mode == NET_ALLOW)
		return err_cannot(
			err, RESTRICTION,
			"--net allow needs hooks that this host refuses (%s); --net none and "
			"--net host do not",
			n->why);
	n->lsm = n->hooks && kern_net_lsm(run->kern);
	n->seccomp =
		(struct seccomp_opts){ .sockets = !n->lsm, .stay = !run->spec->drop_privileges };
	rc = judge_abstract(run, err);
	return rc < 0 || n->lsm ? rc : find_unixes(run, err);
}

void network_spawn(const struct run *run, struct spawn_opts *opts)
{
	const struct network *n = &run->network;

	if (!network_asked(run))
		return;
	opts->netns = run->spec->net.mode == NET_NONE;
	opts->no_new_privs = true;
	opts->seccomp = &n->seccomp;
	opts->unixes = n->unixes.count ? &n->unixes : NULL;
}

int network_enforce(struct run *run, struct err *err)
{
	struct network *n = &run->network;
	const struct kern_net_opts opts = {
		.sandbox = run->id,
		.pid = run->child.pid,
		.own_space = run->spec->net.mode == NET_NONE,
		.group_fd = cgroup_clone_fd(run->cgroup),
		.audit = run->spec->audit,
	};

	if (!n->hooks)
		return 0;
	return kern_net_publish(&n->rows, run->kern, names_policy(run), &opts, err);
}

int network_admit(struct run *run, const struct net_address *address, const struct net_rule *rule,
		  uint64_t until_ns)
{
	return kern_net_add_address(run->network.rows, run->kern, address, rule, until_ns, NULL);
}

int network_verify(struct run *run, struct err *err)
{
	int rc = 0;

	if (run->spawn.netns)
		rc = netns_verify(run->child.pid, err);
	if (rc == 0 && run->spawn.seccomp)
		rc = seccomp_verify(run->child.pid, err);
	return rc;
}

static const char *unix_text(const struct run *run, char text[96])
{
	if (run->network.lsm)
		snprintf(text, 96, "unix sockets of others by hook");
	else
		snprintf(text, 96, "%zu unix sockets of others covered, those bound later are not",
			 run->network.unixes.count);
	return text;
}

void network_clauses(const struct run *run, struct result *r)
{
	const struct network *n = &run->network;
	char text[96];

	switch (run->spec->net.mode) {
	case NET_UNSAID:
		result_clause(r, RESTRICTION, "not asked", false, false, false, NULL);
		return;
	case NET_HOST:
		result_clause(r, RESTRICTION, "unrestricted", false, false, false,
			      "the host's network, as asked");
		return;
	case NET_NONE:
		result_clause(r, RESTRICTION,
			      n->hooks ? "network namespace, seccomp, hooks by label"
				       : "network namespace, seccomp",
			      true, true, true, "lo alone; %s", unix_text(run, text));
		return;
	case NET_ALLOW:
		result_clause(r, RESTRICTION,
			      n->lsm ? "bpf lsm, hooks by label"
				     : "hooks by label, seccomp, landlock",
			      true, true, !run->spec->audit, "%zu rules%s; %s",
			      run->spec->net.rule_count,
			      run->network.names.asked ? ", names by a resolver of its own" : "",
			      unix_text(run, text));
		return;
	}
}

void network_release(struct run *run)
{
	unixes_done(&run->network.unixes);
	kern_net_release(take_ptr(&run->network.rows), run->kern);
}
