/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/attempt.h"

#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"

/* Waits until the parent has put it where it belongs. */
static void child_main(int gate, int (*act)(void *arg), void *arg)
{
	char go;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || read(gate, &go, 1) != 1)
		_exit(255);
	_exit(act(arg));
}

int attempt_start(struct attempt *c, struct cgroup *cg, int (*act)(void *arg), void *arg)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | (cg ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uintptr_t)&c->pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = cg ? (uint64_t)cgroup_clone_fd(cg) : 0,
	};
	own_fd gate = -1, open_gate = -1;
	int pair[2];
	long pid;

	*c = (struct attempt){ .pid = -1, .pidfd = -1 };
	if (pipe2(pair, 0) < 0)
		return -errno;
	gate = pair[0];
	open_gate = pair[1];
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(open_gate);
		child_main(gate, act, arg);
	}
	c->pid = (pid_t)pid;
	if ((cg && cgroup_enter(cg, c->pid, NULL)) || write(open_gate, "x", 1) != 1) {
		attempt_wait(c, 0);
		return -EIO;
	}
	return 0;
}

int attempt_wait(struct attempt *c, int timeout_ms)
{
	struct pollfd ended = { .fd = c->pidfd, .events = POLLIN };
	bool late = poll(&ended, 1, timeout_ms) != 1;
	int status = 0;

	if (late)
		kill(c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	close_fd(&c->pidfd);
	c->pid = -1;
	if (late)
		return -ETIMEDOUT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int attempt(struct cgroup *cg, int (*act)(void *arg), void *arg)
{
	struct attempt c;
	int rc = attempt_start(&c, cg, act, arg);

	return rc ? rc : attempt_wait(&c, ATTEMPT_MS);
}
