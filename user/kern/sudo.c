/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "kern/sudo.h"

#define ANCESTORS_MAX 32
#define ENVIRON_MAX (1 << 20)

/* Parent of `pid`, 0 when it cannot be known; *sudo: it is a sudo that runs as root. */
static pid_t look_at(pid_t pid, bool *sudo)
{
	char path[40], text[512], *comm, *end;
	struct stat st;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (io_read_file(AT_FDCWD, path, text, sizeof(text)) < 0 || stat(path, &st) < 0)
		return 0;
	comm = strchr(text, '(');
	end = strrchr(text, ')');
	if (!comm || !end || sscanf(end, ") %*c %d", &parent) != 1)
		return 0;

	*end = '\0';
	*sudo = !strcmp(comm + 1, "sudo") && st.st_uid == 0;
	return parent;
}

static char *path_of(pid_t pid)
{
	own_str text = malloc(ENVIRON_MAX);
	char path[40];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	len = text ? io_read_file(AT_FDCWD, path, text, ENVIRON_MAX) : -1;
	for (const char *at = text; len > 0 && at < text + len; at += strlen(at) + 1)
		if (!strncmp(at, "PATH=", 5))
			return strdup(at + 5);
	return NULL;
}

/* With a terminal of its own sudo is two processes, one above the other: the upper one was started
 * with what we look for. */
char *sudo_caller_path(void)
{
	pid_t pid = getppid(), found = 0;

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		bool sudo = false;
		pid_t parent = look_at(pid, &sudo);

		if (found && !sudo)
			break;
		if (sudo)
			found = pid;
		pid = parent;
	}
	return found ? path_of(found) : NULL;
}
