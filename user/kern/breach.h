/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breach: hostile acts on the interfaces that enforcement stands on, done to see that they are refused.
 *
 * Each tries once, undoes what came of it, and says 0 when it got through, or a negative errno. Nothing here is
 * needed to enforce anything.
 */
#ifndef KERN_BREACH_H
#define KERN_BREACH_H

#include <sys/socket.h>

/* Makes a BPF map. */
int breach_bpf(void);
/* Makes a user namespace, in which the caller then stays. */
int breach_userns(void);
/* Opens the root of the control groups for moving a process there. -ENOTSUP: it is not where it is looked for. */
int breach_cgroup(void);
/* Connects a socket through io_uring, past whoever looks at system calls. */
int breach_ring(int socket, const struct sockaddr *to, socklen_t len);

#endif
