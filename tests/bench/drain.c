/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain COMMAND [ARG...]
 *
 * Reads the command's standard output from a pipe until its end, as a caller that captures it would, and prints
 * bytes, nanoseconds from start to end of file, and the greatest resident size of the started process itself in KiB,
 * sampled while it writes.
 */
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (128 * 1024)
#define SAMPLE_EVERY (32u << 20)

extern char **environ;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static long resident_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static int start(char **argv, pid_t *pid, int *from)
{
	posix_spawn_file_actions_t actions;
	int fds[2], rc;

	if (pipe(fds) < 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, fds[0]);
	posix_spawn_file_actions_addclose(&actions, fds[1]);
	rc = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	*from = fds[0];
	return rc;
}

int main(int argc, char **argv)
{
	static char chunk[CHUNK];
	uint64_t bytes = 0, begin = now_ns(), sampled = 0;
	long kib = 0;
	int from, status;
	pid_t pid;

	if (argc < 2 || start(argv + 1, &pid, &from) != 0) {
		fprintf(stderr, "drain: cannot start '%s'\n", argc < 2 ? "" : argv[1]);
		return 1;
	}
	for (ssize_t n; (n = read(from, chunk, sizeof(chunk))) > 0;) {
		bytes += (uint64_t)n;
		if (bytes - sampled >= SAMPLE_EVERY) {
			long now = resident_kib(pid);

			kib = now > kib ? now : kib;
			sampled = bytes;
		}
	}
	begin = now_ns() - begin;
	if (waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "drain: '%s' failed\n", argv[1]);
		return 1;
	}
	printf("%" PRIu64 " %" PRIu64 " %ld\n", bytes, begin, kib);
	return 0;
}
