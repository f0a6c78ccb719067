/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity: who is at the other end of a connection: the run's owner, root, or the user it runs as, and
 * whether it is a process of the run itself, which may ask but could raise its own limits.
 */
#ifndef SERVE_IDENTITY_H
#define SERVE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct identity {
	uint64_t run;
	uid_t owner, user; /* `user`: only from inside */
	struct kern *kern; /* opened for the first client */
};

void identity_init(struct identity *identity, const char *run_id, uid_t owner, uid_t user);
void identity_done(struct identity *identity);

/* SO_PEERCRED is of the process that called connect(2). 0, or -EPERM for another user.
 * *inside: it is in the run or in
 * one nested in it; what cannot be found out (a peer that is gone) counts as inside. */
int identity_check(struct identity *identity, int fd, bool *inside);

#endif
