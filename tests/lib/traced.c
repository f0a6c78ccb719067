/* SPDX-License-Identifier: Apache-2.0 */
/* traced COOKIE STATUS: exits with STATUS (or, from 128 on, of the signal STATUS - 128) while a child in a session of its own
 * traces it and waits for nothing: a zombie that only the tracer may reap. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

static void trace(pid_t who, int ready)
{
	setsid();
	signal(SIGTERM, SIG_IGN);
	if (ptrace(PTRACE_SEIZE, who, 0, 0) < 0 || write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int ready[2], status = argc > 2 ? atoi(argv[2]) : 0;
	pid_t self = getpid();
	char byte;

	if (pipe(ready) < 0)
		return 99;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (fork() == 0)
		trace(self, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return 98;
	if (status < 128)
		_exit(status);
	for (;;) /* SIGKILL is the one that the tracer does not get to see first */
		kill(self, status - 128);
}
