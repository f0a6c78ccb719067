/* SPDX-License-Identifier: Apache-2.0 */
/* The forbidden thing, done in a child under a policy without rules; and what is its own still works. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/aside.h"
#include "kern/net_load.h"
#include "sbx/net.h"

#define TRY_MS 3000

struct trial {
	struct kern *k;
	uint64_t id, generation;
};

enum { REFUSED = 0, ALLOWED = 1, BROKEN = 2 };

static int try_connect(uint32_t address, uint16_t port)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = port,
					.sin_addr.s_addr = htonl(address) };
	own_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	return connect(fd, (const struct sockaddr *)&to, sizeof(to)) ? -errno : 0;
}

/* A datagram socket of our own on loopback, whose port is left in *port. */
static int listen_near(uint16_t *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	own_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) ||
	    getsockname(fd, (struct sockaddr *)&at, &len))
		return -1;
	*port = at.sin_port;
	return take_fd(&fd);
}

/* 192.0.2.1 is nobody's, and a datagram socket sends nothing when it connects. Without a route outside
 * nothing can be seen but that it was not this hook that refused. */
static int reach_both(void *arg)
{
	uint16_t port;
	own_fd near = listen_near(&port);
	own_fd raw = -1;

	(void)arg;
	if (near < 0 || try_connect(INADDR_LOOPBACK, port))
		return BROKEN;
	raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	return raw < 0 && try_connect(0xc0000201, htons(9)) == -EPERM ? REFUSED : ALLOWED;
}

/* The caller becomes the keeper of a sandbox with that policy, its next child the root. */
static int keep(void *arg)
{
	struct trial *t = arg;
	struct sbx_create c = { .id = t->id, .flags = SBX_KILL_WITH_KEEPER };
	int create = half_fd(t->k, HALF_CREATE), fd, verdict = BROKEN;

	if (create < 0 || half_run(create, &c, sizeof(c)) || c.error)
		return BROKEN;
	if (!net_control(t->k, t->id, SBX_CONTROL_NET_CLAIM, t->generation, 0) &&
	    !net_control(t->k, t->id, SBX_CONTROL_NET_PUBLISH, t->generation, 0)) {
		fd = aside_start(reach_both, t, NULL);
		verdict = fd < 0 ? BROKEN : aside_end(fd, TRY_MS);
	}
	half_control(t->k, t->id, SBX_CONTROL_DELETE);
	return verdict;
}

bool net_try(struct kern *k, char detail[SBX_DETAIL])
{
	struct trial t = { .k = k,
			   .id = kern_id_new() | 1ull << 60,
			   .generation = kern_id_new() << SBX_NET_FLAGS_BITS };
	int fd, rc;

	fd = aside_start(keep, &t, NULL);
	rc = fd < 0 ? fd : aside_end(fd, TRY_MS);
	half_control(k, t.id, SBX_CONTROL_DELETE);
	if (rc == REFUSED)
		return true;
	snprintf(detail, SBX_DETAIL, "%s",
		 rc == ALLOWED	    ? "the network hooks attach but are not asked"
		 : rc == -ETIMEDOUT ? "a connect under the network hooks did not return in time"
				    : "the trial of the network hooks failed");
	return false;
}
