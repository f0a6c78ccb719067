/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity: who is at the other end of a connection: the run's owner or root, and whether it is a
 * process of the run itself, which has the owner's uid and could raise its own limits.
 */
#ifndef SERVE_IDENTITY_H
#define SERVE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct identity {
	uint64_t run;
	uid_t owner;
	struct kern *kern; /* opened for the first client */
};

void identity_init(struct identity *identity, const char *run_id, uid_t owner);
void identity_done(struct identity *identity);

/* SO_PEERCRED is of the process that called connect(2). 0, or -EPERM for another user. *inside: it is in the run or in
 * one nested in it; what cannot be found out (a peer that is gone) counts as inside. */
int identity_check(struct identity *identity, int fd, bool *inside);

#endif
