/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "usage.h"

/* Started with a standard descriptor closed, the next file we open would take its number, and a
 * message would go into it. What is written to a stdout that was closed is lost, and must fail. */
static bool fill_standard_descriptors(void)
{
	bool no_stdout = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (no_stdout && fd >= 0) {
		close(STDOUT_FILENO);
		if (open("/dev/null", O_RDONLY) != STDOUT_FILENO)
			return false;
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EMFILE; /* nothing is free: none of the three is, either */
}

static int unknown(const char *name)
{
	const char *names[COMMANDS_MAX], *nearest;

	for (size_t i = 0; i < command_count; i++)
		names[i] = commands[i].name;
	nearest = text_nearest(name, names, command_count);
	if (nearest)
		return usage_refuse(NULL, "%s: no such command; did you mean %s?", name, nearest);
	return usage_refuse(NULL, "%s: no such command; `sbxctl help` lists them", name);
}

/* A full disk or a closed pipe under our own output is a failure, not a silence. */
static int flushed(int status)
{
	int error = fflush(stdout) ? errno : 0;

	if (!error && !ferror(stdout))
		return status;
	if (error != EPIPE) /* 0: an earlier write failed, and its reason is gone */
		fprintf(stderr, "sbxctl: write the output: %s\n", strerror(error ? error : EIO));
	return status ? status : 1;
}

static bool asks_for_help(const char *arg)
{
	return !strcmp(arg, "--help") || !strcmp(arg, "-h");
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (!fill_standard_descriptors())
		return SBXCTL_EXIT_COULD_NOT_RUN;
	if (argc < 2) {
		usage_all(stderr);
		return SBXCTL_EXIT_MISUSE;
	}
	if (asks_for_help(argv[1])) {
		usage_all(stdout);
		return flushed(0);
	}
	if (!strcmp(argv[1], "--version")) {
		puts("sbxctl " SBXCTL_VERSION);
		return flushed(0);
	}

	command = command_find(argv[1]);
	if (!command)
		return unknown(argv[1]);
	if (argc > 2 && asks_for_help(argv[2])) {
		usage_command(stdout, command);
		return flushed(0);
	}
	return flushed(command->run(argc - 1, argv + 1));
}
