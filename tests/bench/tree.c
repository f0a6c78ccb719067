/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree N FIFO
 *
 * A tree to be killed: N processes, each in a session of its own, all waiting for ever, all holding the write end of
 * FIFO. Its reader learns from it when the tree began and was complete (two CLOCK_MONOTONIC times of 8 bytes), and
 * by end of file when the last process is gone.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t times[2] = { now_ns(), 0 };
	int fd, n;

	if (argc != 3 || (fd = open(argv[2], O_WRONLY | O_CLOEXEC)) < 0) {
		fprintf(stderr, "usage: tree N FIFO\n");
		return 2;
	}
	n = atoi(argv[1]);
	for (int i = 1; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("tree: fork");
			return 1;
		}
		if (pid == 0) {
			setsid();
			for (;;)
				pause();
		}
	}
	times[1] = now_ns();
	if (write(fd, times, sizeof(times)) != sizeof(times))
		return 1;
	for (;;)
		pause();
}
