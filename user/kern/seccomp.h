/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp: which sockets a tree may have, and what of the kernel it does not reach, as a filter on its own system
 * calls.
 *
 * No hook of the cgroup kind sees sockets of other families than IPv4 and IPv6, and none runs for a
 * task of io_uring's: both are closed here, on every way the kernel has to ask for them (native, x32,
 * i386). The filter looks at numbers only, so it can be read, and no program can change what it saw.
 *
 * Written as BPF and not with libseccomp: the kernel reads 32 bits of each argument, libseccomp compares
 * 64 where a list has to be refused by what is not on it.
 */
#ifndef KERN_SECCOMP_H
#define KERN_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "kern/mounts.h"

struct seccomp_opts {
	bool sockets;	/* only families, types and protocols of the table; no io_uring */
	bool stay;	/* no setns(2) out of the namespaces: for trees that keep capabilities */
	bool guard;	/* no user namespaces, keys, BPF, perf, or input for terminals */
	bool no_listen; /* no listen(2): it needs no bind, and no hook sees that */
};

/* What every refusal of a socket says. io_uring_setup says ENOSYS, which is what programs are made for. */
#define SECCOMP_ERRNO EPERM

/* Whether socket(family, type, protocol) passes; socketpair too. */
bool seccomp_allows(uint32_t family, uint32_t type, uint32_t protocol);

/* Puts the filter on the calling thread. Needs no_new_privs or CAP_SYS_ADMIN; allocates nothing. */
int seccomp_apply(const struct seccomp_opts *opts, char what[MOUNTS_WHAT]);

/* Whether process `pid` is under a filter: 0, or what is wrong. */
int seccomp_verify(pid_t pid, struct err *err);

#endif
