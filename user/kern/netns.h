/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netns: the network namespace of a tree that is to have no network: its own, with nothing in it but
 * lo, which is up. What connects inside of it stays there; abstract unix sockets of others are out of
 * reach as well. Never touches the caller's namespace; goes with the tree's last process.
 */
#ifndef KERN_NETNS_H
#define KERN_NETNS_H

#include <sys/types.h>

#include "base/err.h"
#include "kern/mounts.h"

/* In the child, as root: leaves the caller's namespace for a new one. 0, or a negative errno with the step in
 * `what`: the child must then exit. */
int netns_enter(char what[MOUNTS_WHAT]);

/* Whether process `pid` is in another network namespace than the caller: 0, or what is wrong. */
int netns_verify(pid_t pid, struct err *err);

#endif
