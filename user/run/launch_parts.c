/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of the start that stand alone: the owner, the directory, the streams, the mounts. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/own.h"
#include "run/state.h"

static bool is_pidfd(int fd)
{
	return syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0 || errno != EBADF;
}

/* A process's end makes its pidfd readable; on a pipe or a socket that is only somebody's words. */
static int owner_descriptor(struct run *run, int number, struct err *err)
{
	struct stat st;

	run->owner.fd = fcntl(number, F_DUPFD_CLOEXEC, 3);
	if (run->owner.fd < 0 || fstat(run->owner.fd, &st) < 0)
		return err_set(err, -errno, "--owner fd:%d", number);
	if (is_pidfd(run->owner.fd))
		return 0;
	run->owner_events = EPOLLRDHUP; /* EPOLLHUP and EPOLLERR come unasked */
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || isatty(run->owner.fd))
		return 0;
	return err_say(err, ERR_VALIDATION, -EINVAL,
		       "--owner fd:%d: a file has no end; hand over a pidfd, a pipe or a socket",
		       number);
}

/* An owner that cannot end before the run does, or that the caller mistook for somebody else. */
static int named_itself(const struct run *run, struct err *err)
{
	bool front = run->spec->detach || run->spec->leftovers == LEFTOVERS_KEEP;
	pid_t pid = run->owner_pid;

	if (pid == getpid() || (front && pid == getppid()))
		return err_say(err, ERR_VALIDATION, -EINVAL,
			       "owner %d is this sbxctl itself; name another with --owner PID|none",
			       (int)pid);
	if (pid == 1)
		return err_say(err, ERR_VALIDATION, -EINVAL,
			       "owner 1 ends with the machine; say --owner none");
	return 0;
}

/* The descriptor whose readiness is the owner's end: a pidfd, or what the caller handed us. */
int launch_owner(struct run *run, struct err *err)
{
	const struct spec *spec = run->spec;
	struct pollfd gone = { .events = POLLIN };
	int rc = 0;

	if (spec->owner_mode == OWNER_NONE)
		return 0;
	run->owner_events = EPOLLIN;
	if (spec->owner_mode == OWNER_FD)
		return owner_descriptor(run, (int)spec->owner_arg, err);
	run->owner_pid = spec->owner_mode == OWNER_PID ? (pid_t)spec->owner_arg : run->parent;
	if (spec->owner_mode == OWNER_PID)
		rc = named_itself(run, err);
	if (rc < 0)
		return rc;
	if (run->owner_pid <=
	    1) { /* a parent that is init, or outside this pid namespace, cannot end before us */
		run->owner_pid = 0;
		return 0;
	}
	run->owner.fd = (int)syscall(SYS_pidfd_open, run->owner_pid, 0);
	if (run->owner.fd < 0 && errno != ESRCH)
		return err_set(err, -errno, "watch the owner, process %d", (int)run->owner_pid);
	if (run->owner.fd >= 0 && spec->owner_mode == OWNER_PID &&
	    syscall(SYS_pidfd_send_signal, run->owner.fd, 0, NULL, 0) < 0 && errno == EPERM)
		return err_say(err, ERR_PERMISSION, -EPERM,
			       "owner %d is another user's: CAP_KILL is needed to bind a run to it",
			       (int)run->owner_pid);
	gone.fd = run->owner.fd;
	if (run->owner.fd < 0 || poll(&gone, 1, 0) != 0)
		return err_say(err, ERR_VALIDATION, -ESRCH,
			       "owner %d does not live; name another with --owner PID|none",
			       (int)run->owner_pid);
	return 0;
}

short launch_owner_events(const struct run *run)
{
	return (short)(run->owner_events == EPOLLIN ? POLLIN : POLLRDHUP);
}

/* Who may read the result: the user behind sudo, else the caller. */
static void reader_of(uid_t *uid, gid_t *gid)
{
	const char *sudo_uid = getenv("SUDO_UID"), *sudo_gid = getenv("SUDO_GID");
	uint64_t number;

	*uid = getuid();
	*gid = getgid();
	if (*uid == 0 && sudo_uid && num_u64(sudo_uid, &number) == 0)
		*uid = (uid_t)number;
	if (*gid == 0 && sudo_gid && num_u64(sudo_gid, &number) == 0)
		*gid = (gid_t)number;
}

int launch_dir(struct run *run, struct err *err)
{
	uint64_t most =
		run->spec->json || run->spec->detach ? RUN_SPILL_BYTES : RUN_SPILL_PASS_BYTES;
	uid_t uid;
	gid_t gid;
	int rc;

	reader_of(&uid, &gid);
	rc = rundir_create(&run->dir, run->id_text, uid, gid, err);
	if (rc < 0)
		return geteuid() == 0 ? rc : err_prefix(err, "this needs root");
	store_init(&run->capture.streams[0].store, &run->dir, "stdout.spill", run->spec, most);
	store_init(&run->capture.streams[1].store, &run->dir, "stderr.spill", run->spec, most);
	return 0;
}

static int open_stdin(struct run *run, struct err *err)
{
	const struct spec *spec = run->spec;
	const char *path = spec->stdin_mode == STDIN_FILE ? spec->stdin_file : "/dev/null";

	if (spec->stdin_mode == STDIN_INHERIT)
		run->child_fds[0] = fcntl(0, F_DUPFD_CLOEXEC, 3);
	else
		run->child_fds[0] = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (run->child_fds[0] < 0)
		return err_say(err, ERR_VALIDATION, -errno, "--stdin %s: %s", path,
			       strerror(errno));
	return 0;
}

static int open_pipe(struct run *run, int number, int sink, struct err *err)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(err, -errno, "pipe");
	run->child_fds[number] = pair[1];
	return capture_add(&run->capture, number, pair[0], sink, err);
}

static int open_terminal(struct run *run, struct err *err)
{
	int rc = terminal_open(&run->terminal, run, err);

	if (rc < 0)
		return rc;
	for (int i = 0; i < 3; i++)
		run->child_fds[i] = fcntl(terminal_slave(run->terminal), F_DUPFD_CLOEXEC, 3);
	return capture_add(&run->capture, 1,
			   fcntl(terminal_master(run->terminal), F_DUPFD_CLOEXEC, 3),
			   run->keeper_out, err);
}

int launch_streams(struct run *run, struct err *err)
{
	const struct spec *spec = run->spec;
	bool terminals = isatty(0) && isatty(1) && isatty(2) && !spec->json && !spec->detach &&
			 spec->leftovers != LEFTOVERS_KEEP;
	int rc;

	if (spec->json || spec->detach)
		run->keeper_out = run->keeper_err = -1;
	if (spec->pty == TRI_ON ||
	    (spec->pty == TRI_AUTO && spec->stdin_mode == STDIN_NULL && terminals))
		rc = open_terminal(run, err);
	else
		rc = open_stdin(run, err);
	if (rc == 0 && !run->terminal)
		rc = open_pipe(run, 1, run->keeper_out, err);
	if (rc == 0 && !run->terminal)
		rc = open_pipe(run, 2, run->keeper_err, err);
	run->spawn.stdin_fd = run->child_fds[0];
	run->spawn.stdout_fd = run->child_fds[1];
	run->spawn.stderr_fd = run->child_fds[2];
	run->spawn.tty_fd = run->terminal ? run->child_fds[0] : -1;
	return rc;
}

/* The mount point of `--workdir new`: only the child's own mount namespace ever has anything on it. */
static int make_workdir(struct run *run, struct err *err)
{
	char top[256];
	int rc;

	snprintf(top, sizeof(top), "%s/work", rundir_top());
	rc = io_mkdir_p(top, 0711, err);
	if (rc < 0)
		return rc;
	snprintf(run->workdir, sizeof(run->workdir), "%s/%s", top, run->id_text);
	if (mkdir(run->workdir, 0700) < 0) {
		rc = err_set(err, -errno, "mkdir '%s'", run->workdir);
		run->workdir[0] = '\0';
		return rc;
	}
	run->mounts.workdir = run->workdir;
	return 0;
}

int launch_mounts(struct run *run, struct err *err)
{
	const struct spec *spec = run->spec;
	const struct spec_limit *disk = &run->limits[LIMIT_DISK];
	int rc = 0;

	if (spec->workdir_mode == WORKDIR_NEW)
		rc = make_workdir(run, err);
	else if (limit_in_force(disk) && spec->workdir_mode == WORKDIR_EXISTING)
		rc = mounts_project_quota(spec->workdir, disk->value, false, err);
	else if (limit_in_force(disk) && !spec->private_tmp)
		rc = err_cannot(err, "disk_cap",
				"--disk bounds what a private tmpfs holds: say --workdir new or "
				"--private-tmp");
	if (rc < 0)
		return rc;
	run->mounts.private_tmp = spec->private_tmp;
	run->mounts.proc = spec->pid_ns == TRI_ON;
	run->mounts.bytes = limit_in_force(disk) ? disk->value : 0;
	for (size_t i = 0; i < spec->mount_count; i++)
		run->confinement.binds[i] = (struct mounts_bind){
			.source = spec->mounts[i].source,
			.target = spec->mounts[i].target,
			.read_only = spec->mounts[i].read_only,
		};
	run->mounts.binds = run->confinement.binds;
	run->mounts.bind_count = spec->mount_count;
	run->mounts.uid = run_uid(run);
	run->mounts.gid = run_gid(run);
	return 0;
}
