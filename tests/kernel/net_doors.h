/* SPDX-License-Identifier: Apache-2.0 */
/* net_doors: sockets of a process outside every sandbox, which count who arrives. */
#ifndef KERNEL_NET_DOORS_H
#define KERNEL_NET_DOORS_H

#include "net_world.h"

#include <poll.h>

#define DOORS_MAX 16

struct door {
	const char *address;
	uint16_t port;
	int type;
	int fd;
};

static struct door doors[DOORS_MAX];
static size_t door_count;
static unsigned int *arrivals; /* of each door, shared with the doorkeeper */
static pid_t doorkeeper;

static inline size_t open_door(const char *address, uint16_t port, int type)
{
	union any_address at;
	socklen_t len = address_of(&at, address, port);
	int one = 1, fd = socket(at.sa.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	MUST(fd >= 0 && door_count < DOORS_MAX);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (type == SOCK_STREAM) /* TCP_FASTOPEN, for data that comes with the first packet */
		setsockopt(fd, IPPROTO_TCP, 23, &(int){ 16 }, sizeof(int));
	MUST(!bind(fd, &at.sa, len));
	MUST(type != SOCK_STREAM || !listen(fd, 4096));
	doors[door_count] = (struct door){ address, port, type, fd };
	return door_count++;
}

static inline void take_arrivals(size_t at)
{
	char byte[64];
	int fd;

	if (doors[at].type == SOCK_DGRAM) {
		while (recv(doors[at].fd, byte, sizeof(byte), MSG_DONTWAIT) >= 0)
			__atomic_fetch_add(&arrivals[at], 1, __ATOMIC_SEQ_CST);
		return;
	}
	while ((fd = accept4(doors[at].fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		__atomic_fetch_add(&arrivals[at], 1, __ATOMIC_SEQ_CST);
		close(fd);
	}
}

static inline void keep_doors(void)
{
	struct pollfd polls[DOORS_MAX];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < door_count; i++)
		polls[i] = (struct pollfd){ .fd = doors[i].fd, .events = POLLIN };
	while (poll(polls, door_count, -1) >= 0)
		for (size_t i = 0; i < door_count; i++)
			if (polls[i].revents)
				take_arrivals(i);
	_exit(1);
}

static inline void wait_arrivals(size_t door, unsigned int wanted)
{
	for (int ms = 0; __atomic_load_n(&arrivals[door], __ATOMIC_SEQ_CST) < wanted; ms++) {
		if (ms > 3000)
			fail_msg("door %s:%u: %u arrivals, not %u", doors[door].address,
				 doors[door].port, arrivals[door], wanted);
		sleep_ms(1);
	}
}

/* Dials from outside: what came before it has been counted when it is. */
static inline unsigned int control_dial(size_t door)
{
	unsigned int before = __atomic_load_n(&arrivals[door], __ATOMIC_SEQ_CST);

	assert_int_equal(dial(doors[door].address, doors[door].port, doors[door].type), 0);
	wait_arrivals(door, before + 1);
	sleep_ms(2);
	return __atomic_load_n(&arrivals[door], __ATOMIC_SEQ_CST);
}

static inline void doors_open(void)
{
	doorkeeper = fork();
	if (!doorkeeper)
		keep_doors();
	MUST(doorkeeper > 0);
}

static inline void doors_close(void)
{
	if (!doorkeeper)
		return;
	kill(doorkeeper, SIGKILL);
	waitpid(doorkeeper, NULL, 0);
}

#endif
