/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/breach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static int made(long fd)
{
	return fd < 0 || close((int)fd) < 0 ? -errno : 0;
}

int breach_bpf(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};

	return made(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

int breach_userns(void)
{
	return unshare(CLONE_NEWUSER) < 0 ? -errno : 0;
}

int breach_cgroup(void)
{
	static const char *const files[] = { "/sys/fs/cgroup/cgroup.procs",
					     "/sys/fs/cgroup/unified/cgroup.procs" };
	int rc = -ENOENT;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && rc == -ENOENT; i++)
		rc = made(open(files[i], O_WRONLY | O_CLOEXEC));
	return rc == -ENOENT ? -ENOTSUP : rc;
}
