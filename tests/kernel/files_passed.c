/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that come from elsewhere, and openers that are not the task itself. */
#include "files_scene.h"

#include <linux/io_uring.h>

#include "pass_fd.h"

static int pair[2];

static int receives(void *arg)
{
	char buf[8];
	int fd = receive_fd(pair[1]);

	(void)arg;
	MUST(fd >= 0 && read(fd, buf, sizeof(buf)) == 4);
	ANSWERS(-ENOENT, receive_fd(pair[1])); /* w/deny/f */
	ANSWERS(-ENOENT, receive_fd(pair[1])); /* w/ro/f, for writing */
	fd = receive_fd(pair[1]);	       /* w/ro/f, for reading */
	MUST(fd >= 0);
	return 0;
}

static void what_arrives_over_a_socket_is_judged(void **state)
{
	(void)state;
	if (!k)
		skip();
	MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	MUST(!send_fd(pair[0], open(F("w/f"), O_RDWR | O_CLOEXEC)));
	MUST(!send_fd(pair[0], open(F("w/deny/f"), O_RDONLY | O_CLOEXEC)));
	MUST(!send_fd(pair[0], open(F("w/ro/f"), O_RDWR | O_CLOEXEC)));
	MUST(!send_fd(pair[0], open(F("w/ro/f"), O_RDONLY | O_CLOEXEC)));
	under_policy(receives);
}

static int sends(void *arg)
{
	(void)arg;
	pair[0] = pair[1];
	ANSWERS(0, send_fd(pair[0], open(F("w/f"), O_RDONLY | O_CLOEXEC)));
	return 0;
}

static void what_was_opened_may_be_given_away(void **state)
{
	int fd;

	(void)state;
	if (!k)
		skip();
	MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	under_policy(sends);
	fd = receive_fd(pair[0]);
	assert_true(fd >= 0);
	close(fd);
}

static int inherited = -1;

static int uses(void *arg)
{
	char self[48], buf[8];

	(void)arg;
	MUST(read(inherited, buf, sizeof(buf)) == 6); /* was never asked for here */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", inherited);
	ANSWERS(-EACCES, try_open(self, O_RDONLY));
	return 0;
}

static void an_inherited_descriptor_works_and_opens_nothing_anew(void **state)
{
	(void)state;
	if (!k)
		skip();
	inherited = open(F("w/deny/f"), O_RDONLY | O_CLOEXEC);
	under_policy(uses);
	close(inherited);
}

static int takes(void *arg)
{
	int pidfd = (int)syscall(SYS_pidfd_open, test_pid, 0);

	(void)arg;
	MUST(pidfd >= 0);
	ANSWERS(0, said(syscall(SYS_pidfd_getfd, pidfd, pair[0], 0)));
	ANSWERS(-EACCES, said(syscall(SYS_pidfd_getfd, pidfd, inherited, 0)));
	return 0;
}

static void a_descriptor_taken_from_a_process_is_judged(void **state)
{
	(void)state;
	if (!k)
		skip();
	inherited = open(F("w/deny/f"), O_RDONLY | O_CLOEXEC);
	under_policy(takes);
	close(inherited);
}

/* ---- io_uring -------------------------------------------------------------------------------- */

struct ring {
	int fd;
	struct io_uring_params p;
	char *sq, *cq;
	struct io_uring_sqe *sqes;
};

static int ring_open(struct ring *r)
{
	const int prot = PROT_READ | PROT_WRITE;

	*r = (struct ring){ 0 };
	r->fd = (int)syscall(SYS_io_uring_setup, 4, &r->p);
	if (r->fd < 0)
		return -errno;
	r->sq = mmap(NULL, 65536, prot, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
	r->cq = mmap(NULL, 65536, prot, MAP_SHARED, r->fd, IORING_OFF_CQ_RING);
	r->sqes = mmap(NULL, 4096, prot, MAP_SHARED, r->fd, IORING_OFF_SQES);
	return r->sq == MAP_FAILED || r->cq == MAP_FAILED || r->sqes == MAP_FAILED ? -errno : 0;
}

/* openat() by a worker, with the credentials of a personality when it is not 0. */
static int ring_openat(struct ring *r, const char *path, int personality)
{
	unsigned int *tail = (unsigned int *)(r->sq + r->p.sq_off.tail);
	unsigned int *head = (unsigned int *)(r->cq + r->p.cq_off.head);
	unsigned int mask = *(unsigned int *)(r->sq + r->p.sq_off.ring_mask);
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(r->cq + r->p.cq_off.cqes);
	unsigned int at = *tail & mask;
	int res;

	r->sqes[at] = (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT,
					     .flags = IOSQE_ASYNC,
					     .fd = AT_FDCWD,
					     .addr = (uintptr_t)path,
					     .open_flags = O_RDONLY | O_CLOEXEC,
					     .personality = (__u16)personality };
	((unsigned int *)(r->sq + r->p.sq_off.array))[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -errno;
	res = cqes[*head & *(unsigned int *)(r->cq + r->p.cq_off.ring_mask)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return res < 0 ? res : close(res);
}

static int by_ring(void *arg)
{
	struct ring r;
	int mask;

	(void)arg;
	ANSWERS(0, ring_open(&r));
	ANSWERS(0, ring_openat(&r, F("w/f"), 0));
	ANSWERS(-EACCES, ring_openat(&r, F("w/deny/f"), 0));
	mask = (int)syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_PERSONALITY, NULL, 0);
	MUST(mask > 0);
	MUST(!setresgid(1, 1, 1)); /* now they are other credentials */
	ANSWERS(-EACCES, ring_openat(&r, F("w/deny/f"), mask));
	ANSWERS(-EACCES, ring_openat(&r, F("w/f"), mask)); /* refused altogether */
	ANSWERS(0, ring_openat(&r, F("w/f"), 0));
	return 0;
}

static void a_worker_of_io_uring_is_judged_as_its_task(void **state)
{
	(void)state;
	under_policy(by_ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_arrives_over_a_socket_is_judged),
		cmocka_unit_test(what_was_opened_may_be_given_away),
		cmocka_unit_test(an_inherited_descriptor_works_and_opens_nothing_anew),
		cmocka_unit_test(a_descriptor_taken_from_a_process_is_judged),
		cmocka_unit_test(a_worker_of_io_uring_is_judged_as_its_task),
	};

	return cmocka_run_group_tests(tests, scene_make, scene_unmake);
}
