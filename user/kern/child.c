/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kern/cgroup.h"
#include "kern/confine.h"
#include "kern/mounts.h"
#include "kern/netns.h"
#include "kern/seccomp.h"
#include "kern/unixes.h"

struct child {
	const struct spawn_opts *opts;
	struct child_image *image;
	int fault_fd;
	int ruleset; /* of Landlock, -1: none */
	char what[sizeof(((struct spawn_fault *)0)->what)];
};

static void report(const struct child *c, enum spawn_stage stage, int error, const char *what)
{
	struct spawn_fault fault = { .stage = (int32_t)stage, .error = error };
	ssize_t n;

	memccpy(fault.what, what, '\0', sizeof(fault.what) - 1);
	n = write(c->fault_fd, &fault, sizeof(fault));
	(void)n; /* the keeper is gone then, and with it everything */
}

__attribute__((noreturn)) static void die(const struct child *c, enum spawn_stage stage, int error,
					  const char *what)
{
	report(c, stage, error, what);
	_exit(125);
}

#define MUST(c, call, what)                               \
	do {                                              \
		if ((call) < 0)                           \
			die(c, SPAWN_SETUP, errno, what); \
	} while (0)

/* CLONE_CLEAR_SIGHAND reset the handlers; dispositions that were ignored and the mask are ours to reset. */
static void reset_signals(void)
{
	/* The kernel's struct sigaction, all zero: SIG_DFL. libc's refuses the two signals it uses itself. */
	static const unsigned long deflt[4];
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		syscall(SYS_rt_sigaction, sig, deflt, NULL, sizeof(unsigned long));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_streams(const struct child *c)
{
	const struct spawn_opts *o = c->opts;

	/* Its number is in the link; where it is taken or beyond the limit, the path is executed. */
	if (c->image->link_dir >= 0 && c->image->fd != CHILD_IMAGE_FD &&
	    (fcntl(CHILD_IMAGE_FD, F_GETFD) >= 0 ||
	     dup3(c->image->fd, CHILD_IMAGE_FD, O_CLOEXEC) < 0))
		c->image->link_dir = -1;
	MUST(c, setsid(), "setsid");
	MUST(c, dup2(o->stdin_fd, 0), "stdin");
	MUST(c, dup2(o->stdout_fd, 1), "stdout");
	MUST(c, dup2(o->stderr_fd, 2), "stderr");
	if (o->tty_fd >= 0)
		MUST(c, ioctl(0, TIOCSCTTY, 0), "make the pty the controlling terminal");
	/* Whatever the caller left open stays behind; ours are needed until the exec itself. */
	MUST(c, syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */), "close_range");
}

/* A soft limit above the hard one of before is refused by the kernel, which is right: nobody gets more. */
static void set_rlimit(const struct child *c, int resource, uint64_t value, const char *what)
{
	struct rlimit have, want = { .rlim_cur = value, .rlim_max = value };

	if (value == UINT64_MAX)
		return;
	MUST(c, getrlimit((__rlimit_resource_t)resource, &have), what);
	if (have.rlim_max < value)
		want.rlim_cur = want.rlim_max = have.rlim_max;
	MUST(c, setrlimit((__rlimit_resource_t)resource, &want), what);
}

/* The file was checked on the mounts of before: it must be there on those the command sees, and is
 * executed there, where noexec counts. */
static void find_image_again(const struct child *c)
{
	struct stat was, is;
	int fd = open(c->image->path, O_PATH | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &is) < 0 || fstat(c->image->fd, &was) < 0 ||
	    was.st_dev != is.st_dev || was.st_ino != is.st_ino)
		die(c, SPAWN_EXEC, EACCES, "exec");
	if (c->image->link_dir < 0)
		return;
	MUST(c, dup3(fd, CHILD_IMAGE_FD, O_CLOEXEC), "keep the command's file");
	/* The link leads through /proc, which may be denied. */
	if (access("/proc/self/fd", F_OK) < 0)
		c->image->link_dir = -1;
}

static void leave_network(struct child *c)
{
	int rc = c->opts->netns ? netns_enter(c->what) : 0;

	if (rc < 0)
		die(c, SPAWN_SETUP, -rc, c->what);
}

/* No shared memory, queue or key is shared by who has its name. A kernel without keys has none to share. */
static void leave_others(const struct child *c)
{
	if (!c->opts->apart)
		return;
	MUST(c, unshare(CLONE_NEWIPC | CLONE_NEWUTS), "IPC and UTS namespaces");
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		die(c, SPAWN_SETUP, errno, "session keyring");
}

/* Its own mount namespace, the directory to start in, and what of the files is left. */
static void confine(struct child *c)
{
	static const struct mounts_opts bare;
	const struct spawn_opts *o = c->opts;
	bool apart = o->mounts || o->unixes || (o->confine && o->confine->mounts);
	int rc = apart ? mounts_apply(o->mounts ? o->mounts : &bare, c->what) : 0;

	if (rc == 0 && o->unixes)
		rc = unixes_cover(o->unixes, c->what);
	if (rc < 0)
		die(c, SPAWN_SETUP, -rc, c->what);
	if (c->image->cwd_fd >= 0)
		MUST(c, apart ? chdir(o->chdir) : fchdir(c->image->cwd_fd), "chdir");
	if (o->confine && o->confine->landlock) {
		rc = c->ruleset = confine_ruleset(o->confine, c->what);
		if (rc < 0)
			die(c, SPAWN_SETUP, -rc, c->what);
	}
	if (!o->confine || !o->confine->mounts)
		return;
	rc = confine_mounts(o->confine, c->what);
	if (rc < 0)
		die(c, SPAWN_SETUP, -rc, c->what);
	find_image_again(c);
}

/* What no later exec may give back. Needs CAP_SETPCAP, so it comes before the identity. */
static void drop_bounding_set(const struct child *c)
{
	if (!c->opts->drop_caps)
		return;
	MUST(c, prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "ambient capabilities");
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		MUST(c, prctl(PR_CAPBSET_DROP, cap, 0, 0, 0), "bounding capabilities");
}

static void drop_capabilities(const struct child *c)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (c->opts->drop_caps)
		MUST(c, syscall(SYS_capset, &header, none), "drop capabilities");
}

/* A core is written by the kernel, as whoever it likes, or handed to a program of root's outside; at a
 * limit of 1, and of no other, it does neither. */
static void refuse_core(const struct child *c)
{
	const struct rlimit one = { .rlim_cur = 1, .rlim_max = 1 };

	/* Refused where the limit is 0 and may not be raised: then at least no file is written. */
	if (c->opts->confine && setrlimit(RLIMIT_CORE, &one) < 0 && errno != EPERM)
		die(c, SPAWN_SETUP, errno, "RLIMIT_CORE");
}

static void set_identity(const struct child *c)
{
	const struct spawn_opts *o = c->opts;

	if (o->drop_groups)
		MUST(c, setgroups(0, NULL), "setgroups");
	if (!o->set_user)
		return;
	if (o->groups && !o->drop_groups)
		MUST(c, setgroups(o->group_count, o->groups), "setgroups");
	MUST(c, setresgid(o->gid, o->gid, o->gid), "setresgid");
	MUST(c, setresuid(o->uid, o->uid, o->uid), "setresuid");
}

/* It was entered as root: whoever the command runs as has to be able to stand there, too. */
static void check_directory(const struct child *c)
{
	char what[sizeof(((struct spawn_fault *)0)->what)];

	if (c->image->cwd_fd < 0 || faccessat(AT_FDCWD, ".", X_OK, AT_EACCESS) == 0)
		return;
	snprintf(what, sizeof(what), "--chdir %s", c->opts->chdir);
	die(c, SPAWN_SETUP, errno, what);
}

static int execute(const struct child *c)
{
	const struct spawn_opts *o = c->opts;
	char *shell_argv[SPAWN_ARGS_FALLBACK + 2] = { (char *)"sh", c->image->path };

	if (c->image->link_dir >= 0)
		syscall(SYS_execveat, c->image->link_dir, c->image->name, o->argv, o->envp, 0);
	else
		execve(c->image->path, o->argv, o->envp);
	if (errno != ENOEXEC || c->image->elf)
		return errno;
	/* As execvp(3), and with it env, nice and timeout: a file without "#!" is the shell's. */
	for (size_t i = 1; o->argv[i]; i++) {
		if (i >= SPAWN_ARGS_FALLBACK)
			return ENOEXEC;
		shell_argv[i + 1] = o->argv[i];
	}
	execve("/bin/sh", shell_argv, o->envp);
	return ENOEXEC;
}

__attribute__((noreturn)) void child_main(const struct spawn_opts *opts, struct child_image *image,
					  int go_fd, int fault_fd)
{
	struct child c = { .opts = opts, .image = image, .fault_fd = fault_fd, .ruleset = -1 };
	ssize_t n;
	char byte;
	int rc;

	reset_signals();
	if (opts->cgroup) {
		rc = cgroup_enter_self(opts->cgroup);
		if (rc < 0)
			die(&c, SPAWN_SETUP, -rc, "enter the control groups");
	}
	if (opts->timer_slack_ns)
		prctl(PR_SET_TIMERSLACK, opts->timer_slack_ns);
	set_streams(&c);
	leave_network(&c);
	leave_others(&c);
	confine(&c);
	set_rlimit(&c, RLIMIT_FSIZE, opts->max_file_bytes, "RLIMIT_FSIZE");
	set_rlimit(&c, RLIMIT_NOFILE, opts->nofile, "RLIMIT_NOFILE");
	refuse_core(&c);
	drop_bounding_set(&c);
	set_identity(&c);
	drop_capabilities(&c);
	check_directory(&c);
	if (opts->no_new_privs)
		MUST(&c, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	rc = c.ruleset < 0 ? 0 : confine_restrict(c.ruleset, c.what);
	if (rc == 0 && opts->seccomp)
		rc = seccomp_apply(opts->seccomp, c.what);
	if (rc < 0)
		die(&c, SPAWN_SETUP, -rc, c.what);
	report(&c, SPAWN_READY, 0, "ready");
	do
		n = read(go_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(125); /* the keeper died before it released us */
	die(&c, SPAWN_EXEC, execute(&c), "exec");
}
