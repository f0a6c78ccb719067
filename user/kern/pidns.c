/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/pidns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/aside.h"

#define STOP_MS 1000 /* it dies last of the namespace, and waits for who sleeps uninterruptibly */

enum { KEEPER, CHILDREN, TIMER, OWNER, FDS };

/* The descriptors that it needs to 0 and up, and nothing else: it must not hold a pipe of the run open. */
static void keep_only(const int from[FDS])
{
	int high[FDS];

	for (int i = 0; i < FDS; i++)
		high[i] = from[i] < 0 ? -1 : fcntl(from[i], F_DUPFD, FDS);
	for (int i = 0; i < FDS; i++) {
		if (high[i] < 0)
			close(i);
		else
			dup2(high[i], i);
	}
	syscall(SYS_close_range, (unsigned int)FDS, ~0U, 0U);
}

/*
 * PDEATHSIG is the fast way. It is not sent by a keeper that was dying while it was set, so the keeper's
 * pidfd is watched as well.
 */
__attribute__((noreturn)) static void init_main(int keeper, const struct pidns_ends *ends)
{
	struct pollfd events[] = {
		[KEEPER] = { .fd = KEEPER, .events = POLLIN },
		[CHILDREN] = { .fd = CHILDREN, .events = POLLIN },
		[TIMER] = { .fd = ends->timer_fd < 0 ? -1 : TIMER, .events = POLLIN },
		[OWNER] = { .fd = ends->owner_fd < 0 ? -1 : OWNER, .events = ends->owner_events }
	};
	struct signalfd_siginfo info;
	sigset_t all, children;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	keep_only((const int[FDS]){ keeper, signalfd(-1, &children, SFD_NONBLOCK), ends->timer_fd,
				    ends->owner_fd });
	prctl(PR_SET_NAME, "sbx-init", 0, 0, 0);
	do {
		while (read(CHILDREN, &info, sizeof(info)) > 0 || waitpid(-1, NULL, WNOHANG) > 0)
			;
	} while (poll(events, FDS, -1) < 0 ||
		 !(events[KEEPER].revents | events[TIMER].revents | events[OWNER].revents));
	_exit(0);
}

int pidns_start(struct pidns *ns, const struct pidns_ends *ends, struct err *err)
{
	struct clone_args args = {
		.flags = CLONE_NEWPID | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uintptr_t)&ns->pidfd,
		.exit_signal = SIGCHLD,
	};
	own_fd keeper = (int)syscall(SYS_pidfd_open, getpid(), 0);
	long pid;

	if (keeper < 0)
		return err_set(err, -errno, "pidfd of the keeper");
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return err_set(err, -errno,
			       "clone3 of the pid namespace's init (CONFIG_PID_NS, CAP_SYS_ADMIN)");
	if (pid == 0)
		init_main(keeper, ends);
	ns->pid = (pid_t)pid;
	return 0;
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
		aside_reap(ns->pidfd, STOP_MS);
	}
	ns->pid = -1;
	close_fd(&ns->pidfd);
}
