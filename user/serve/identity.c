/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/identity.h"

#include <errno.h>
#include <sys/pidfd.h>
#include <sys/socket.h>

#include "base/own.h"
#include "kern/kern.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

void identity_init(struct identity *identity, const char *run_id, uid_t owner, uid_t user)
{
	*identity = (struct identity){ .owner = owner, .user = user };
	kern_id_parse(run_id, &identity->run);
}

void identity_done(struct identity *identity)
{
	kern_close(identity->kern);
	identity->kern = NULL;
}

/* Before 6.5 by number: whoever has taken a dead peer's number since is asked about in its place. */
static int peer_pidfd(int fd, pid_t pid)
{
	int pidfd;
	socklen_t len = sizeof(pidfd);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len))
		return pidfd;
	return pidfd_open(pid, 0);
}

/* Whether sandbox `id` is `run` or nested in it. */
static bool below(struct kern *k, uint64_t id, uint64_t run)
{
	struct sbx_sandbox row;

	for (int i = 0; id && i <= SBX_MAX_NEST; i++) {
		if (id == run)
			return true;
		if (kern_sandbox_read(k, id, &row))
			return false;
		id = row.parent;
	}
	return false;
}

static bool is_inside(struct identity *identity, int fd, pid_t pid)
{
	own_fd pidfd = peer_pidfd(fd, pid);
	uint64_t label;

	if (!identity->kern && kern_open(&identity->kern, NULL)) {
		identity->kern = NULL;
		return true;
	}
	if (pidfd < 0 || kern_label_of(identity->kern, pidfd, &label))
		return true;
	return label && below(identity->kern, label, identity->run);
}

int identity_check(struct identity *identity, int fd, bool *inside)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	if (cred.uid != 0 && cred.uid != identity->owner && cred.uid != identity->user)
		return -EPERM;
	*inside = is_inside(identity, fd, cred.pid);
	return cred.uid == 0 || cred.uid == identity->owner || *inside ? 0 : -EPERM;
}
