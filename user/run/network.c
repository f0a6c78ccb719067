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

int network_resolve(struct run *run, struct err *err)
{
	struct network *n = &run->network;

	if (!network_asked(run))
		return 0;
	n->seccomp = (struct seccomp_opts){ .sockets = true, .stay = !run->spec->drop_privileges };
	return find_unixes(run, err);
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

int network_verify(struct run *run, struct err *err)
{
	int rc = 0;

	if (run->spawn.netns)
		rc = netns_verify(run->child.pid, err);
	if (rc == 0 && run->spawn.seccomp)
		rc = seccomp_verify(run->child.pid, err);
	return rc;
}

void network_clauses(const struct run *run, struct result *r)
{
	const struct network *n = &run->network;

	switch (run->spec->net.mode) {
	case NET_UNSAID:
		result_clause(r, RESTRICTION, "not asked", false, false, false, NULL);
		return;
	case NET_HOST:
		result_clause(r, RESTRICTION, "unrestricted", false, false, false,
			      "the host's network, as asked");
		return;
	case NET_NONE:
	case NET_ALLOW:
		result_clause(r, RESTRICTION, "network namespace, seccomp", true, true, true,
			      "none: lo alone; %zu unix sockets of others covered, those bound "
			      "later are not",
			      n->unixes.count);
		return;
	}
}

void network_release(struct run *run)
{
	unixes_done(&run->network.unixes);
}
