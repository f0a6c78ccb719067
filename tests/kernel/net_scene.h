/* SPDX-License-Identifier: Apache-2.0 */
/* net_scene: acts under a network policy, and the doors outside (net_doors.h). */
#ifndef KERNEL_NET_SCENE_H
#define KERNEL_NET_SCENE_H

#include "keeper.h"
#include "net_doors.h"

#include "kern/net.h"

static struct kern *k;

struct under {
	const char *const *allow; /* --allow-net, NULL-terminated; NULL: --net none */
	const char *const *binds;
	bool own_space;
	int group_fd; /* the v2 group that act() enters, 0: none */
	int (*act)(void *arg);
	void *arg;
	int ready[2], go[2]; /* the root waits for its policy */
	struct kern_net *net;
	struct tree tree;
};

static inline int under_root(void *arg)
{
	struct under *u = arg;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	if (u->own_space) {
		MUST(!unshare(CLONE_NEWNET));
		lo_on();
	}
	MUST(write(u->ready[1], "r", 1) == 1);
	MUST(read(u->go[0], &byte, 1) == 1);
	return u->act(u->arg);
}

static inline void policy_of(struct net_policy *policy, const struct under *u)
{
	struct err err = { .text = "" };

	*policy = (struct net_policy){ .mode = u->allow ? NET_ALLOW : NET_NONE };
	for (const char *const *word = u->allow; word && *word; word++)
		OK(&err, net_policy_allow(policy, *word, "test", 1, &err));
	for (const char *const *word = u->binds; word && *word; word++)
		OK(&err, net_policy_bind(policy, *word, "test", 1, &err));
}

/* Starts act() as the root of a sandbox under the policy. */
static inline void under_start(struct under *u)
{
	const struct kern_sandbox_opts opts = { .keeper_owns = true, .want_events = true };
	struct err err = { .text = "" };
	struct kern_net_opts how = { .own_space = u->own_space, .group_fd = u->group_fd ?: -1 };
	struct net_policy policy;
	char byte;

	MUST(!pipe2(u->go, O_CLOEXEC) && !pipe2(u->ready, O_CLOEXEC));
	policy_of(&policy, u);
	tree_start(&u->tree, k, &opts, under_root, u);
	MUST(read(u->ready[0], &byte, 1) == 1);
	how.sandbox = u->tree.id;
	how.pid = u->tree.root;
	OK(&err, kern_net_publish(&u->net, k, &policy, &how, &err));
	net_policy_done(&policy);
	MUST(write(u->go[1], "g", 1) == 1);
}

static inline int under_end(struct under *u)
{
	int status = tree_wait(&u->tree);

	tree_end(&u->tree);
	kern_net_release(u->net, k);
	for (int i = 0; i < 2; i++)
		close(u->go[i]), close(u->ready[i]);
	return status;
}

/* Status of act() under a policy. */
static inline int under(const char *const *allow, int (*act)(void *arg), void *arg)
{
	struct under u = { .allow = allow, .act = act, .arg = arg };

	under_start(&u);
	return under_end(&u);
}

/* Fails where a part of the hooks is missing in silence. */
static inline int net_scene_make(void **state)
{
	const char *why;

	(void)state;
	MUST(!unshare(CLONE_NEWNET));
	lo_up();
	arrivals = shared(DOORS_MAX * sizeof(*arrivals));
	k = open_kern();
	if (kern_net_available(k, &why))
		return kern_net_lsm(k) != kern_facts(k)->lsm;
	print_message("skipped: %s\n", why);
	kern_close(k);
	k = NULL;
	return 0;
}

static inline int net_scene_unmake(void **state)
{
	(void)state;
	doors_close();
	if (!k)
		return 0;
	kern_close(k);
	return kern_unload(NULL);
}

#endif
