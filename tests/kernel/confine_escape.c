/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 180 */
/* The ways round a file policy (SECURITY.md), each tried inside mounts and Landlock, with a control that the
 * same act works where nothing is denied. As another user and as root without capabilities. */
#include "confine_test.h"

#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/uio.h>

#include "pass_fd.h"

#define ID "home/.ssh/id"

static void usual(void (*fn)(const struct scene *))
{
	struct scene s;

	scene_usual(&s);
	shell("ln -s ../.ssh/id %s/home/work/link && ln -s ../ok.txt %s/home/work/fine", s.top,
	      s.top);
	confined(&s, fn);
	scene_done(&s);
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool reads(const struct scene *s, const char *before, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s/%s", before, s->top, name);
	return *content(path);
}

static void names(const struct scene *s)
{
	static const char *const ways[] = { "",
					    "/",
					    "//.",
					    "/proc/self/root",
					    "/proc/thread-self/root",
					    "/proc/self/cwd/../../..",
					    "/usr/.." };
	char fd_path[32];
	int fd;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		MUST(reads(s, ways[i], "home/ok.txt"));
		MUST(!reads(s, ways[i], ID));
		MUST(!reads(s, ways[i], "home/work/../.ssh/id"));
	}
	MUST(reads(s, "", "home/work/fine") && !reads(s, "", "home/work/link"));

	fd = open(at(s, "home/ok.txt"), O_PATH | O_CLOEXEC);
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
	MUST(*content(fd_path));
	REFUSED(open(fd_path, O_WRONLY | O_CLOEXEC));
	fd = open(at(s, "home/.netrc"), O_PATH | O_CLOEXEC);
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
	MUST(fd >= 0 && !*content(fd_path));
	fd = open(at(s, "home/.ssh"), O_PATH | O_CLOEXEC);
	MUST(fd >= 0);
	REFUSED(openat(fd, "id", O_RDONLY | O_CLOEXEC));
	fd = open(at(s, "home"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(openat(fd, "ok.txt", O_RDONLY | O_CLOEXEC) >= 0);
	REFUSED(openat(fd, ".ssh/id", O_RDONLY | O_CLOEXEC));
	REFUSED(chdir(at(s, "home/.ssh")));
	WORKS(chdir(at(s, "home/work")));
}

static void no_name_leads_to_what_is_denied(void **state)
{
	(void)state;
	usual(names);
}

static void links_and_files(const struct scene *s)
{
	int flags = FS_NODUMP_FL, fd = open(at(s, "home/ok.txt"), O_RDONLY | O_CLOEXEC), tmp;
	char path[32];

	REFUSED(link(at(s, "home/.netrc"), at(s, "home/work/hl")));
	REFUSED(link(at(s, "home/ok.txt"), at(s, "home/work/hl")));
	WORKS(link(at(s, "home/work/true"), at(s, "home/work/true2")));
	/* An ioctl on a descriptor for reading changes the inode. */
	MUST(fd >= 0);
	REFUSED(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	REFUSED(fchmod(fd, 0600));
	fd = open(at(s, "home/work/true"), O_RDONLY | O_CLOEXEC);
	MUST(ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0 || errno == ENOTTY || errno == EOPNOTSUPP);
	/* A file without a name gets one where names may be made. */
	tmp = open(at(s, "home/work"), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	MUST(tmp >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tmp);
	REFUSED(linkat(AT_FDCWD, path, AT_FDCWD, at(s, "home/new"), AT_SYMLINK_FOLLOW));
	REFUSED(linkat(AT_FDCWD, path, AT_FDCWD, at(s, "home/work/.git/hooks/pre-commit"),
		       AT_SYMLINK_FOLLOW));
	WORKS(linkat(AT_FDCWD, path, AT_FDCWD, at(s, "home/work/named"), AT_SYMLINK_FOLLOW));
	WORKS(unlink(at(s, "home/work/named")));
	WORKS(unlink(at(s, "home/work/true2")));
}

static void no_link_is_made_to_or_from_what_may_not_be_touched(void **state)
{
	(void)state;
	usual(links_and_files);
}

static int run(const char *program, const char *arg)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		close(2);
		execl(program, program, arg, NULL);
		_exit(126);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void loader(const struct scene *s)
{
	const char *ld = "/lib64/ld-linux-x86-64.so.2";

	if (access(ld, X_OK))
		return;
	MUST(run(ld, at(s, "home/work/true")) == 0);
	MUST(run(ld, at(s, "home/work/tool/true")) != 0);
}

static void the_loader_runs_nothing_that_may_not_be_executed(void **state)
{
	(void)state;
	usual(loader);
}

/* ---- mounts and namespaces ------------------------------------------------------------------ */

static void no_mount_changes(const struct scene *s)
{
	struct mount_attr rw = { .attr_clr = MOUNT_ATTR_RDONLY };
	char *ssh = at(s, "home/.ssh"), *work = at(s, "home/work"), *src = at(s, "home/work/src");

	MUST(umount2(ssh, MNT_DETACH) < 0); /* EINVAL: it is locked */
	MUST(umount2(at(s, "home/work/.git/hooks"), MNT_DETACH) < 0);
	REFUSED(mount(at(s, "home"), work, NULL, MS_BIND, NULL));
	REFUSED(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
	REFUSED(mount(ssh, src, NULL, MS_MOVE, NULL));
	REFUSED(mount("none", src, "tmpfs", 0, NULL));
	REFUSED(mount("none", src, "proc", 0, NULL));
	REFUSED(mount("none", src, "overlay", 0, "lowerdir=/etc:/usr"));
	REFUSED(mount_setattr(AT_FDCWD, "/", 0, &rw, sizeof(rw)));
	REFUSED(mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &rw, sizeof(rw)));
	REFUSED(mount_setattr(AT_FDCWD, at(s, "home/work/.git/hooks"), 0, &rw, sizeof(rw)));
	REFUSED(move_mount(AT_FDCWD, ssh, AT_FDCWD, src, 0));
	REFUSED(syscall(SYS_pivot_root, work, work));
	MUST(!reads(s, "", ID));
}

/* The clone of a tree, where one may be made at all, has the masks of the tree. */
static void no_clone_is_bare(const struct scene *s)
{
	static const unsigned int how[] = { 0, AT_RECURSIVE };

	for (size_t i = 0; i < 2; i++) {
		int tree = open_tree(AT_FDCWD, at(s, "home"), OPEN_TREE_CLONE | how[i]);

		if (tree < 0)
			continue;
		MUST(openat(tree, ".ssh/id", O_RDONLY | O_CLOEXEC) < 0);
		MUST(openat(tree, "ok.txt", O_WRONLY | O_CLOEXEC) < 0);
	}
	MUST(open_tree(AT_FDCWD, at(s, "home/.ssh"), OPEN_TREE_CLONE) < 0 || !reads(s, "", ID));
}

/* Refused, or made, out of nothing that was hidden: what cannot be mounted can still be opened through
 * its descriptor. */
static void no_new_file_system_shows_more(const struct scene *s)
{
	static const char *const types[] = { "overlay", "proc", "sysfs", "tmpfs" };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		int fs = fsopen(types[i], FSOPEN_CLOEXEC), tree;

		if (fs < 0)
			continue;
		if (i == 0) {
			fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir+", at(s, "home"), 0);
			fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir+", at(s, "home/work/src"), 0);
		}
		tree = fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ? -1
									    : fsmount(fs, 0, 0);
		if (tree < 0)
			continue;
		MUST(openat(tree, ".ssh/id", O_RDONLY | O_CLOEXEC) < 0);
		MUST(openat(tree, "sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC) < 0);
		MUST(openat(tree, "kernel/profiling", O_WRONLY | O_CLOEXEC) < 0);
	}
}

static void outside_namespaces(const struct scene *s)
{
	no_mount_changes(s);
	no_clone_is_bare(s);
	REFUSED(chroot(at(s, "home")));
}

static bool put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n > 0;
}

/* Refused to root without CAP_SETFCAP; the capabilities are there without it. */
static bool map_root(const char *path, unsigned int id)
{
	char text[64];

	snprintf(text, sizeof(text), "0 %u 1", id);
	return put_text(path, text);
}

static void in_user_namespace(const struct scene *s)
{
	unsigned int uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		print_message("no user namespace here: %s\n", strerror(errno));
		return;
	}
	if (put_text("/proc/self/setgroups", "deny") && map_root("/proc/self/uid_map", uid) &&
	    map_root("/proc/self/gid_map", gid))
		MUST(getuid() == 0);
	no_mount_changes(s);
	no_clone_is_bare(s);
	no_new_file_system_shows_more(s);
	REFUSED(open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC));
	/* This one it may, and it leads nowhere new. */
	WORKS(chroot(at(s, "home")));
	MUST(*content("/ok.txt") && !*content("/.ssh/id"));
	MUST(try_open("/ok.txt", O_WRONLY));
}

static void no_mount_can_be_changed(void **state)
{
	(void)state;
	usual(outside_namespaces);
}

static void no_user_namespace_lifts_a_mask(void **state)
{
	(void)state;
	usual(in_user_namespace);
}

/* ---- others --------------------------------------------------------------------------------- */

/* A process of the same user outside, with the secret open as descriptor 100. */
struct outsider {
	pid_t pid;
	int handle_bytes, handle_type;
	unsigned char handle[128];
};
static struct outsider *outsider;
static int wire[2];

static void outsider_main(const struct scene *s)
{
	char *id = at(s, ID);
	int fd = open(id, O_RDONLY | O_CLOEXEC);

	dup2(fd, 100);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	MUST(send_fd(wire[1], 100) == 0);
	for (;;)
		pause();
}

/* As each identity in turn: the outsider must be the same user's. */
static void with_outsider(void (*fn)(const struct scene *))
{
	static const uid_t who[] = { USER, 0 };

	for (size_t i = 0; i < 2; i++) {
		struct scene s;
		struct file_handle *h;
		int status = 0, mount;
		pid_t pid;

		scene_usual(&s);
		shell("ln %s/" ID " %s/home/before && chown -Rh %d:%d %s", s.top, s.top, who[i],
		      who[i], s.top);
		outsider = shared(sizeof(*outsider));
		h = (struct file_handle *)(void *)&outsider->handle_bytes;
		h->handle_bytes = sizeof(outsider->handle);
		if (name_to_handle_at(AT_FDCWD, at(&s, ID), h, &mount, 0) < 0)
			h->handle_bytes = 0;
		MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wire) == 0);
		pid = fork();
		if (pid == 0) {
			MUST(setresgid(who[i], who[i], who[i]) == 0);
			MUST(setresuid(who[i], who[i], who[i]) == 0);
			outsider_main(&s);
		}
		outsider->pid = pid;
		pid = fork();
		if (pid == 0) {
			MUST(chdir(s.top) == 0);
			enter(&s, who[i]);
			fn(&s);
			_exit(0);
		}
		MUST(waitpid(pid, &status, 0) == pid);
		kill(outsider->pid, SIGKILL);
		waitpid(outsider->pid, NULL, 0);
		close(wire[0]);
		close(wire[1]);
		scene_done(&s);
		MUST(status == 0);
	}
}

static void through_outsider(const struct scene *s)
{
	static const char *const ways[] = { "root/etc/passwd", "cwd/.",	 "exe", "fd/100", "mem",
					    "ns/mnt",	       "environ" };
	struct iovec here = { &(char){ 0 }, 1 }, there = { outsider, 1 };
	int fd = receive_fd(wire[0]), pidfd;
	char path[PATH_MAX];

	MUST(fd >= 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", outsider->pid, ways[i]);
		REFUSED(open(path, O_RDONLY | O_CLOEXEC));
	}
	snprintf(path, sizeof(path), "/proc/%d/root", outsider->pid);
	REFUSED(chdir(path));
	REFUSED(process_vm_readv(outsider->pid, &here, 1, &there, 1, 0));
	pidfd = (int)syscall(SYS_pidfd_open, outsider->pid, 0);
	MUST(pidfd >= 0);
	REFUSED(syscall(SYS_pidfd_getfd, pidfd, 100, 0));
	REFUSED(setns(pidfd, CLONE_NEWNS));
	REFUSED(syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, outsider->pid, 0, 0));
	/* The same of itself. */
	snprintf(path, sizeof(path), "/proc/self/root%s/home/ok.txt", s->top);
	MUST(*content(path));
	WORKS(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
}

static void no_process_outside_is_a_way_out(void **state)
{
	(void)state;
	with_outsider(through_outsider);
}

static void by_handle(const struct scene *s)
{
	struct file_handle *h = (struct file_handle *)(void *)&outsider->handle_bytes;
	int mount = open(at(s, "home"), O_RDONLY | O_CLOEXEC);

	MUST(mount >= 0);
	if (h->handle_bytes)
		REFUSED(open_by_handle_at(mount, h, O_RDONLY | O_CLOEXEC));
}

static void no_handle_is_opened(void **state)
{
	(void)state;
	with_outsider(by_handle);
}

/* ---- limits that tier B has, written down --------------------------------------------------- */

/* Mounts cover names: an object that has another name, or that somebody hands over, is not covered. */
static void aliases(const struct scene *s)
{
	char byte;
	int fd = receive_fd(wire[0]);

	MUST(!strcmp(content(at(s, "home/before")), ID));
	MUST(pread(fd, &byte, 1, 0) == 1);
	MUST(!reads(s, "", ID));
}

static void an_alias_of_a_denied_file_is_not_covered(void **state)
{
	(void)state;
	with_outsider(aliases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_name_leads_to_what_is_denied),
		cmocka_unit_test(no_link_is_made_to_or_from_what_may_not_be_touched),
		cmocka_unit_test(the_loader_runs_nothing_that_may_not_be_executed),
		cmocka_unit_test(no_mount_can_be_changed),
		cmocka_unit_test(no_user_namespace_lifts_a_mask),
		cmocka_unit_test(no_process_outside_is_a_way_out),
		cmocka_unit_test(no_handle_is_opened),
		cmocka_unit_test(an_alias_of_a_denied_file_is_not_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
