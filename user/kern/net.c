/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/net.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/membarrier.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/net_load.h"
#include "kern/net_rows.h"

struct kern_net {
	uint64_t sandbox;
	struct net_rows rows;
	struct net_named named;
	int links[2]; /* on the group: egress, ingress */
};

/* ---- the network namespace ------------------------------------------------------------------------ */

static int cookie_here(uint64_t *cookie)
{
	own_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*cookie);

	if (fd < 0)
		return -errno;
	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &len) ? -errno : 0;
}

/* By a socket there: the number that hooks see has no other name. */
static int space_cookie(pid_t pid, uint64_t *cookie, struct err *err)
{
	own_fd own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), other = -1;
	char path[48];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	other = open(path, O_RDONLY | O_CLOEXEC);
	if (own < 0 || other < 0)
		return err_set(err, -errno, "open '%s'", path);
	if (setns(other, CLONE_NEWNET))
		return err_set(err, -errno, "enter '%s'", path);
	rc = cookie_here(cookie);
	if (setns(own, CLONE_NEWNET))
		return err_set(err, -errno, "leave '%s'", path);
	return rc ? err_set(err, rc, "name the network namespace of %d", pid) : 0;
}

/* ---- the group's own hooks -------------------------------------------------------------------------- */

static int attach_one(struct kern *k, enum half_pin pin, int group, enum bpf_attach_type type)
{
	int prog = half_fd(k, pin), link;

	if (prog < 0)
		return prog;
	link = bpf_link_create(prog, group, type, NULL);
	return link < 0 ? -errno : link;
}

static int attach_group(struct kern_net *net, struct kern *k, int group, struct err *err)
{
	if (group < 0 || kern_net_lsm(k))
		return 0;
	net->links[0] = attach_one(k, HALF_NET_EGRESS, group, BPF_CGROUP_INET_EGRESS);
	net->links[1] = attach_one(k, HALF_NET_INGRESS, group, BPF_CGROUP_INET_INGRESS);
	for (int i = 0; i < 2; i++)
		if (net->links[i] < 0)
			return err_set(err, net->links[i], "attach the network hooks to the group");
	return 0;
}

/* ---- publish ---------------------------------------------------------------------------------------- */

static int rows_error(int rc, struct err *err)
{
	if (rc == -ENOSPC)
		return err_say(err, ERR_BUSY, rc,
			       "the tables of the kernel half have no room for this network policy "
			       "(%d rules): sbxctl ps shows the sandboxes",
			       SBX_MAX_NET_RULES);
	return err_set(err, rc, "fill the rows of the network policy");
}

/* Claimed before a row is there: the sweep of others takes rows that no sandbox claims. */
static int fill(struct kern_net *net, struct kern *k, uint64_t space, struct err *err)
{
	int rc = net_control(k, net->sandbox, SBX_CONTROL_NET_CLAIM, net->rows.generation, 0);

	if (!rc)
		rc = net_rows_insert(&net->rows, k);
	if (rc)
		return rows_error(rc, err);
	rc = net_control(k, net->sandbox, SBX_CONTROL_NET_PUBLISH, net->rows.generation, space);
	return rc ? err_set(err, rc, "put the network policy in force") : 0;
}

static int make(struct kern_net *net, struct kern *k, const struct net_policy *policy,
		const struct kern_net_opts *opts, struct err *err)
{
	uint64_t space = 0;
	int rc = opts->own_space ? space_cookie(opts->pid, &space, err) : 0;

	if (!rc)
		rc = net_rows_make(&net->rows, k, policy, opts, err);
	if (!rc && policy->mode == NET_ALLOW && !opts->own_space)
		rc = attach_group(net, k, opts->group_fd, err);
	return rc ? rc : fill(net, k, space, err);
}

/* Of another generation: the sandbox's named addresses stay. */
static void drop(struct kern_net *net, struct kern *k)
{
	net_rows_delete(&net->rows, k);
	net_rows_done(&net->rows);
	for (int i = 0; i < 2; i++)
		if (net->links[i] >= 0)
			close(net->links[i]);
	free(net);
}

int kern_net_publish(struct kern_net **net, struct kern *k, const struct net_policy *policy,
		     const struct kern_net_opts *opts, struct err *err)
{
	struct kern_net *fresh = calloc(1, sizeof(*fresh));
	const char *why;
	int rc;

	if (!fresh)
		return err_set(err, -ENOMEM, "publish a network policy");
	fresh->sandbox = opts->sandbox;
	fresh->links[0] = fresh->links[1] = -1;
	rc = kern_net_available(k, &why) ? make(fresh, k, policy, opts, err)
					 : err_cannot(err, "network_restriction", "%s", why);
	if (rc) {
		drop(fresh, k);
		return rc;
	}
	if (*net) {
		/* Verdicts under way still read the old rows; without them they refuse. */
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		fresh->named = (*net)->named;
		drop(*net, k);
	}
	*net = fresh;
	return 0;
}

int kern_net_add_address(struct kern_net *net, struct kern *k, const struct net_address *address,
			 const struct net_rule *rule, uint64_t expires_ns, struct err *err)
{
	return net_named_add(&net->named, k, net->sandbox, address, rule, expires_ns, err);
}

void kern_net_release(struct kern_net *net, struct kern *k)
{
	if (!net)
		return;
	net_named_release(&net->named, k);
	drop(net, k);
}
