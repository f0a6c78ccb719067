/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/netns.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/own.h"

int netns_enter(char what[MOUNTS_WHAT])
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	own_fd any = -1;

	if (unshare(CLONE_NEWNET) < 0)
		return mounts_fail(what, "make a network namespace");
	any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (any < 0 || ioctl(any, SIOCSIFFLAGS, &lo) < 0)
		return mounts_fail(what, "bring lo up in the network namespace");
	return 0;
}

static int name_of(const char *who, char name[64], struct err *err)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/ns/net", who);
	n = readlink(path, name, 63);
	if (n < 0)
		return err_set(err, -errno, "read '%s'", path);
	name[n] = '\0';
	return 0;
}

int netns_verify(pid_t pid, struct err *err)
{
	char ours[64], theirs[64], who[16];
	int rc = name_of("self", ours, err);

	snprintf(who, sizeof(who), "%d", (int)pid);
	if (rc == 0)
		rc = name_of(who, theirs, err);
	if (rc == 0 && !strcmp(ours, theirs))
		rc = err_set(err, -ESTALE, "process %d is not in a network namespace of its own",
			     (int)pid);
	return rc;
}
