/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect BATCHES ADDRESS PORT: nanoseconds of one connect(2) of a datagram socket, which sends nothing, one line a
 * batch of 1,000.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define BATCH 1000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int fail(const char *what)
{
	perror(what);
	exit(1);
}

static void connects(int batches, const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1)
		fail(address);
	for (int i = 0; i < batches; i++) {
		uint64_t begin = now_ns();

		for (int n = 0; n < BATCH; n++)
			if (connect(fd, (const struct sockaddr *)&to, sizeof(to)))
				fail("connect");
		printf("%llu\n", (unsigned long long)(now_ns() - begin) / BATCH);
	}
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	connects(atoi(argv[1]), argv[2], argv[3]);
	return 0;
}
