/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/breach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

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

#define RING_BYTES 4096 /* of one entry, its table and its answer */

/* Both halves of the ring are one mapping (since 5.4). The answer's result; -EIO when there is none. */
static int ring_answer(int ring, const struct io_uring_params *p, char *rings)
{
	const struct io_uring_cqe *answers = (void *)(rings + p->cq_off.cqes);
	unsigned int *tail = (void *)(rings + p->sq_off.tail);
	const unsigned int *done = (void *)(rings + p->cq_off.tail);

	((unsigned int *)(void *)(rings + p->sq_off.array))[0] = 0;
	__atomic_store_n(tail, 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -errno;
	return __atomic_load_n(done, __ATOMIC_ACQUIRE) == 1 ? answers[0].res : -EIO;
}

int breach_ring(int socket, const struct sockaddr *to, socklen_t len)
{
	struct io_uring_params p = { 0 };
	own_fd ring = (int)syscall(SYS_io_uring_setup, 1, &p);
	struct io_uring_sqe *entry;
	char *rings;
	int rc = -ENOMEM;

	if (ring < 0)
		return -errno;
	rings = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		     IORING_OFF_SQ_RING);
	entry = mmap(NULL, sizeof(*entry), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		     IORING_OFF_SQES);
	if (rings != MAP_FAILED && entry != MAP_FAILED) {
		*entry = (struct io_uring_sqe){
			.opcode = IORING_OP_CONNECT, .fd = socket, .addr = (uintptr_t)to, .off = len
		};
		rc = ring_answer(ring, &p, rings);
	}
	if (rings != MAP_FAILED)
		munmap(rings, RING_BYTES);
	if (entry != MAP_FAILED)
		munmap(entry, sizeof(*entry));
	return rc;
}
