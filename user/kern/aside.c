/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/aside.h"

#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIE_MS 1000 /* after SIGKILL; a call of ours must not hang on who cannot die */

int aside_start(int (*fn)(void *arg), void *arg, pid_t *pid)
{
	int pidfd = -1;
	struct clone_args args = { .flags = CLONE_PIDFD, .pidfd = (uintptr_t)&pidfd };
	long child = syscall(SYS_clone3, &args, sizeof(args));

	if (child < 0)
		return -errno;
	if (!child)
		_exit(fn(arg));
	if (pid)
		*pid = (pid_t)child;
	return pidfd;
}

static bool ends(int pidfd, int budget_ms)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int ready;

	do {
		ready = poll(&p, 1, budget_ms);
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

static bool reap(int pidfd, siginfo_t *info)
{
	return !waitid(P_PIDFD, (id_t)pidfd, info, WEXITED | WNOHANG | __WALL) && info->si_pid;
}

bool aside_reap(int pidfd, int budget_ms)
{
	siginfo_t info = { 0 };

	return ends(pidfd, budget_ms) && reap(pidfd, &info);
}

int aside_end(int pidfd, int budget_ms)
{
	siginfo_t info = { 0 };
	bool ended = ends(pidfd, budget_ms);

	if (!ended)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	if (ended || ends(pidfd, DIE_MS))
		reap(pidfd, &info);
	close(pidfd);
	if (!ended)
		return -ETIMEDOUT;
	return info.si_code == CLD_EXITED ? info.si_status : -EINTR;
}
