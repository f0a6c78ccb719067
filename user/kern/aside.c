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

int aside_end(int pidfd, int budget_ms)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	siginfo_t info = { 0 };
	int ready;

	do {
		ready = poll(&p, 1, budget_ms);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) && errno == EINTR)
		;
	close(pidfd);
	if (ready <= 0)
		return -ETIMEDOUT;
	return info.si_code == CLD_EXITED ? info.si_status : -EINTR;
}
