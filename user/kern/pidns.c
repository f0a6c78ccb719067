/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/pidns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"

/* `alive` is the read end of a pipe whose write end only the keeper has: its end before PDEATHSIG is set is seen here. */
__attribute__((noreturn)) static void init_main(int alive)
{
	sigset_t all;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (read(alive, &byte, 1) != 1)
		_exit(1);
	setsid();
	syscall(SYS_close_range, 0U, ~0U, 0U);
	prctl(PR_SET_NAME, "sbx-init", 0, 0, 0);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		sigwaitinfo(&all, NULL);
	}
}

int pidns_start(struct pidns *ns, struct err *err)
{
	struct clone_args args = {
		.flags = CLONE_NEWPID | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uintptr_t)&ns->pidfd,
		.exit_signal = SIGCHLD,
	};
	own_fd alive = -1, tell = -1;
	int pair[2];
	long pid;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(err, -errno, "pipe");
	alive = pair[0];
	tell = pair[1];
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return err_set(err, -errno,
			       "clone3 of the pid namespace's init (CONFIG_PID_NS, CAP_SYS_ADMIN)");
	if (pid == 0) {
		close(tell);
		init_main(alive);
	}
	ns->pid = (pid_t)pid;
	return write(tell, "x", 1) == 1 ? 0
					: err_set(err, -errno, "start the pid namespace's init");
}

int pidns_enter(const struct pidns *ns, struct err *err)
{
	return setns(ns->pidfd, CLONE_NEWPID) < 0
		       ? err_set(err, -errno, "setns into the pid namespace")
		       : 0;
}

int pidns_leave(struct err *err)
{
	own_fd mine = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

	if (mine < 0 || setns(mine, CLONE_NEWPID) < 0)
		return err_set(err, -errno,
			       "setns back out of the pid namespace (/proc/self/ns/pid)");
	return 0;
}

void pidns_stop(struct pidns *ns)
{
	if (ns->pid > 0) {
		syscall(SYS_pidfd_send_signal, ns->pidfd, SIGKILL, NULL, 0);
		while (waitpid(ns->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	ns->pid = -1;
	close_fd(&ns->pidfd);
}
