/* SPDX-License-Identifier: Apache-2.0 */
#include "run/attach_policy.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kern/inside.h"
#include "kern/paths.h"
#include "run/state.h"

#define FILES "filesystem_confinement"
#define FUTURE "filesystem_deny_future"
#define NETWORK "network_restriction"

/* ---- files ---------------------------------------------------------------------------------- */

/* Where it works; a directory that has no name any more is none to have rules about. */
static void find_directory(struct confinement *c)
{
	if (!getcwd(c->directory, sizeof(c->directory)) || c->directory[0] != '/')
		memcpy(c->directory, "/", 2);
}

/* Homes are those of this host's passwd, the rest is the tree's own. */
static int resolve_inside(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	const struct paths_context context = { .home = run->user.home, .directory = c->directory };
	struct inside in;
	int rc = inside_enter(&in, run->spec->attach, err), left;

	if (rc)
		return rc;
	find_directory(c);
	rc = paths_resolve(run->spec->files, run->spec->file_count, &context, &c->policy,
			   run->result.note, err);
	left = inside_leave(&in, rc ? NULL : err);
	return rc ? rc : left;
}

static int resolve_files(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	const char *why;

	if (!run->spec->file_count)
		return 0;
	c->asked = c->hooks = files_available(run->kern, &why);
	if (c->asked)
		return resolve_inside(run, err);
	if (spec_may_reduce(run->spec, FILES) && !run->spec->audit)
		return 0;
	return err_cannot(err, FILES,
			  "a tree that runs already is held by BPF LSM alone, which this host does "
			  "not have (%s); say -p none, or --allow-reduced " FILES
			  " to attach without file policy",
			  why);
}

/* ---- network -------------------------------------------------------------------------------- */

static size_t count_names(const struct net_policy *policy)
{
	size_t n = 0;

	for (size_t i = 0; i < policy->rule_count; i++)
		n += policy->rules[i].name != NULL;
	return n;
}

static int resolve_network(struct run *run, struct err *err)
{
	struct network *n = &run->network;

	if (!network_asked(run))
		return 0;
	n->hooks = kern_net_available(run->kern, &n->why);
	if (n->hooks && kern_net_lsm(run->kern))
		return 0;
	if (spec_may_reduce(run->spec, NETWORK))
		return 0;
	return err_cannot(err, NETWORK,
			  "a tree that runs already is held by hooks alone, and without BPF LSM "
			  "they see IPv4 and IPv6, not unix sockets and other families; say --net "
			  "host, or --allow-reduced " NETWORK " to have what they see refused");
}

int attach_policy_resolve(struct run *run, struct err *err)
{
	int rc = resolve_files(run, err);

	return rc ? rc : resolve_network(run, err);
}

int attach_policy_enforce(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	const struct files_opts files = { .sandbox = run->id,
					  .pid = run->spec->attach,
					  .audit = run->spec->audit };
	const struct kern_net_opts net = { .sandbox = run->id,
					   .pid = run->spec->attach,
					   .group_fd = -1,
					   .audit = run->spec->audit };
	int rc = 0;

	if (c->asked)
		rc = files_publish(&c->files, run->kern, &c->policy, &files, err);
	if (!rc && run->network.hooks)
		rc = kern_net_publish(&run->network.rows, run->kern, &run->spec->net, &net, err);
	return rc;
}

/* ---- on record ------------------------------------------------------------------------------ */

static void files_clauses(const struct run *run, struct result *r)
{
	bool hooks = run->confinement.asked;

	if (!run->spec->file_count || hooks)
		confinement_clauses(run, r);
	else
		result_clause(r, FILES, "none", true, true, false,
			      "reduced by request: held by BPF LSM alone");
}

static void network_clause(const struct run *run, struct result *r)
{
	const struct network *n = &run->network;
	bool whole = n->hooks && kern_net_lsm(run->kern);
	size_t names = count_names(&run->spec->net);

	if (!network_asked(run))
		network_clauses(run, r);
	else if (!n->hooks)
		result_clause(r, NETWORK, "none", true, true, false, "reduced by request: %s",
			      n->why);
	else if (!whole)
		result_clause(r, NETWORK, "hooks by label", true, true, false,
			      "reduced by request: IPv4 and IPv6 alone, %zu rules, %zu of names, "
			      "which admit nothing",
			      run->spec->net.rule_count, names);
	else
		result_clause(r, NETWORK, "bpf lsm, hooks by label", true, true, !run->spec->audit,
			      "%zu rules, %zu of names%s", run->spec->net.rule_count, names,
			      names ? ", which admit nothing: give addresses" : "");
}

void attach_policy_clauses(const struct run *run, struct result *r)
{
	files_clauses(run, r);
	network_clause(run, r);
}
