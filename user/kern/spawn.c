/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/aside.h"
#include "kern/cgroup.h"
#include "kern/child.h"
#include "kern/pidns.h"

#define ABORT_MS 1000 /* it may hang in a file system that does not answer */

static int spawn_clone(struct spawn *s, const struct spawn_opts *opts, struct err *err)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uintptr_t)&s->pidfd,
		.exit_signal = SIGCHLD,
	};
	long pid;
	int rc;

	if (opts->cgroup) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)cgroup_clone_fd(opts->cgroup);
	}
	if (opts->pidns && pidns_enter(opts->pidns, err) < 0)
		return err->code;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	rc = pid < 0 ? err_set(err, -errno, "clone3 of the command's process") : 0;
	if (pid != 0 && opts->pidns && pidns_leave(rc < 0 ? NULL : err) < 0 && rc == 0)
		rc = err->code;
	s->pid = (pid_t)pid;
	return rc;
}

static int spawn_pipes(struct spawn *s, int *child_go, int *child_fault, struct err *err)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(err, -errno, "pipe");
	*child_go = pair[0];
	s->go_fd = pair[1];
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(err, -errno, "pipe");
	s->fault_fd = pair[0];
	*child_fault = pair[1];
	return 0;
}

static int spawn_image(struct spawn *s, const struct spawn_opts *opts, struct err *err)
{
	int rc;

	s->image = malloc(sizeof(*s->image));
	if (!s->image)
		return err_set(err, -ENOMEM, "spawn");
	rc = child_image_open(s->image, opts, err);
	if (rc < 0)
		free(take_ptr(&s->image));
	else
		s->by_path = s->image->link_dir < 0;
	return rc;
}

int spawn_start(struct spawn *s, const struct spawn_opts *opts, struct err *err)
{
	own_fd child_go = -1, child_fault = -1;
	int rc;

	*s = (struct spawn){ .pid = -1, .pidfd = -1, .go_fd = -1, .fault_fd = -1 };
	rc = spawn_image(s, opts, err);
	if (rc == 0)
		rc = spawn_pipes(s, &child_go, &child_fault, err);
	if (rc == 0)
		rc = spawn_clone(s, opts, err);
	if (rc == 0 && s->pid == 0) {
		/* The keeper's end held here as well would outlive the keeper, and nothing say that it is gone. */
		close_fd(&s->go_fd);
		close_fd(&s->fault_fd);
		child_main(opts, s->image, child_go, child_fault);
	}
	if (rc < 0) {
		spawn_abort(s);
		spawn_done(s);
	}
	return rc;
}

/* The next report of the child: its ready byte, a fault, or end of file. 1 report, 0 end of file. */
static int read_report(struct spawn *s, int timeout_ms, struct spawn_fault *fault, struct err *err)
{
	struct pollfd p = { .fd = s->fault_fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, timeout_ms) == 0)
		return err_set(err, -ETIMEDOUT, "the child did not report within %d ms",
			       timeout_ms);
	do
		n = read(s->fault_fd, fault, sizeof(*fault));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	if (n != (ssize_t)sizeof(*fault))
		return err_set(err, n < 0 ? -errno : -EPROTO, "read the child's report");
	return 1;
}

static int report_err(const struct spawn_opts *opts, const struct spawn_fault *fault,
		      struct err *err)
{
	if (fault->stage == SPAWN_EXEC)
		return err_say(err, ERR_COULD_NOT_RUN, -fault->error, "%s: %s", opts->argv[0],
			       strerror(fault->error));
	return err_say(err, ERR_INTERNAL, -fault->error, "%s: %s", fault->what,
		       strerror(fault->error));
}

int spawn_ready(struct spawn *s, const struct spawn_opts *opts, int timeout_ms, struct err *err)
{
	struct spawn_fault fault;
	int rc = read_report(s, timeout_ms, &fault, err);

	if (rc < 0)
		return rc;
	if (rc == 0)
		return err_say(err, ERR_INTERNAL, -ECHILD, "the child died before it was ready");
	return fault.stage == SPAWN_READY ? 0 : report_err(opts, &fault, err);
}

int spawn_release(struct spawn *s, struct err *err)
{
	if (write(s->go_fd, "x", 1) != 1)
		return err_set(err, -errno, "release the child");
	close_fd(&s->go_fd);
	return 0;
}

int spawn_result(struct spawn *s, const struct spawn_opts *opts, struct err *err)
{
	struct spawn_fault fault;
	int rc = read_report(s, -1, &fault, err);

	if (rc > 0)
		rc = report_err(opts, &fault, err);
	close_fd(&s->fault_fd);
	return rc;
}

void spawn_abort(struct spawn *s)
{
	if (s->pid <= 0)
		return;
	if (s->pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
		aside_reap(s->pidfd, ABORT_MS);
	}
	s->pid = -1;
}

void spawn_done(struct spawn *s)
{
	if (s->image) {
		child_image_close(s->image);
		free(take_ptr(&s->image));
	}
	close_fd(&s->pidfd);
	close_fd(&s->go_fd);
	close_fd(&s->fault_fd);
}
