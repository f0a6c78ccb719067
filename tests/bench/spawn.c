/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn ROUNDS COMMAND [ARG...] [, COMMAND [ARG...]]...
 *
 * Wall time of vfork + execve + waitpid of each command, in nanoseconds, one line a round with a column a command.
 * Commands take turns within a round, so that whatever else the host does falls on all of them alike. A command
 * that does not exit with 0 ends the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMMANDS_MAX 32
#define WARM_UP 3

extern char **environ;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t run_ns(char **argv)
{
	uint64_t begin = now_ns();
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		execve(argv[0], argv, environ);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("spawn");
		exit(1);
	}
	if (status != 0) {
		fprintf(stderr, "spawn: '%s' ended with status 0x%x\n", argv[0],
			(unsigned int)status);
		exit(1);
	}
	return now_ns() - begin;
}

/* Cuts argv at each "," into commands; returns how many. */
static int split(char **argv, char **commands[COMMANDS_MAX])
{
	int n = 0;

	for (char **start = argv; *start && n < COMMANDS_MAX;) {
		char **end = start;

		while (*end && strcmp(*end, ",") != 0)
			end++;
		commands[n++] = start;
		start = *end ? end + 1 : end;
		*end = NULL;
	}
	return n;
}

int main(int argc, char **argv)
{
	char **commands[COMMANDS_MAX];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), out = dup(STDOUT_FILENO), n;
	long rounds;
	FILE *report;

	if (argc < 3 || null < 0 || out < 0) {
		fprintf(stderr, "usage: spawn ROUNDS COMMAND [ARG...] [, COMMAND...]\n");
		return 2;
	}
	fcntl(out, F_SETFD, FD_CLOEXEC);
	report = fdopen(out, "w");
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	rounds = strtol(argv[1], NULL, 10);
	n = split(argv + 2, commands);
	for (long round = -WARM_UP; round < rounds; round++) {
		for (int i = 0; i < n; i++) {
			uint64_t ns = run_ns(commands[i]);

			if (round >= 0)
				fprintf(report, "%" PRIu64 "%c", ns, i + 1 < n ? '\t' : '\n');
		}
	}
	return fclose(report) != 0;
}
