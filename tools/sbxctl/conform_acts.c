/* SPDX-License-Identifier: Apache-2.0 */
#include "conform.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/breach.h"

static int said(long rc)
{
	return rc < 0 ? -errno : 0;
}

/* Of a call that makes a descriptor. */
static int made(long fd)
{
	return fd < 0 ? -errno : said(close((int)fd));
}

static int reads(const char *path)
{
	own_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[16];
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));

	return n < 0 ? -errno : n >= 6 && !memcmp(buf, "secret", 6) ? 0 : -ENODATA;
}

#define PATH(s, name)   \
	char path[160]; \
	snprintf(path, sizeof(path), "%s/%s", (s)->dir, name)

/* ---- files ---------------------------------------------------------------------------------- */

static int act_read(const struct conform_scene *s)
{
	PATH(s, "secret");
	return reads(path);
}

static int act_make(const struct conform_scene *s)
{
	PATH(s, "outside/made");
	return made(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static int act_truncate(const struct conform_scene *s)
{
	PATH(s, "outside/file");
	return said(truncate(path, 1));
}

static int act_chmod(const struct conform_scene *s)
{
	PATH(s, "outside/file");
	return said(chmod(path, 0600));
}

static int act_read_symlink(const struct conform_scene *s)
{
	PATH(s, "secret");
	unlink("symlink");
	return symlink(path, "symlink") < 0 ? -errno : reads("symlink");
}

static int act_read_link(const struct conform_scene *s)
{
	PATH(s, "secret");
	unlink("link");
	return link(path, "link") < 0 ? -errno : reads("link");
}

static int act_read_root(const struct conform_scene *s)
{
	char path[192];

	snprintf(path, sizeof(path), "/proc/self/root%s/secret", s->dir);
	return reads(path);
}

static int act_rename(const struct conform_scene *s)
{
	PATH(s, "secret");
	return rename(path, "renamed") < 0 ? -errno : said(rename("renamed", path));
}

/* ---- network -------------------------------------------------------------------------------- */

static struct sockaddr_in server_of(const struct conform_scene *s)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)s->port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int act_connect(const struct conform_scene *s)
{
	own_fd fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = server_of(s);

	return fd < 0 ? -errno : said(connect(fd, (struct sockaddr *)&to, sizeof(to)));
}

static int act_unix(const struct conform_scene *s)
{
	own_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	snprintf(to.sun_path, sizeof(to.sun_path), "%.90s/socket", s->dir);
	return fd < 0 ? -errno : said(connect(fd, (struct sockaddr *)&to, sizeof(to)));
}

static int act_abstract(const struct conform_scene *s)
{
	own_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int len = snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "%.90s", s->dir);

	if (fd < 0)
		return -errno;
	return said(
		connect(fd, (struct sockaddr *)&to,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (socklen_t)len));
}

static int act_packet(const struct conform_scene *s)
{
	(void)s;
	return made(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
}

static int act_io_uring(const struct conform_scene *s)
{
	own_fd fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = server_of(s);

	return fd < 0 ? -errno : breach_ring(fd, (struct sockaddr *)&to, sizeof(to));
}

/* ---- processes ------------------------------------------------------------------------------ */

static int act_shm(const struct conform_scene *s)
{
	const char *at = shmat(s->shm, NULL, SHM_RDONLY);

	if (at == (void *)-1)
		return -errno;
	return memcmp(at, "secret", 6) ? -ENODATA : said(shmdt(at));
}

static int act_key(const struct conform_scene *s)
{
	long key = syscall(SYS_add_key, "user", "sbx-conform", "x", 1, KEY_SPEC_USER_KEYRING);

	(void)s;
	if (key < 0)
		return -errno;
	return said(syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_USER_KEYRING));
}

static int act_signal(const struct conform_scene *s)
{
	return said(kill(s->outsider, SIGCONT));
}

static int act_trace(const struct conform_scene *s)
{
	int status;

	if (ptrace(PTRACE_SEIZE, s->outsider, 0, 0) < 0)
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, s->outsider, 0, 0) < 0 ||
	    waitpid(s->outsider, &status, __WALL) < 0)
		return -errno;
	return said(ptrace(PTRACE_DETACH, s->outsider, 0, 0));
}

static int act_memory(const struct conform_scene *s)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/mem", s->outsider);
	return made(open(path, O_RDONLY | O_CLOEXEC));
}

static int act_environ(const struct conform_scene *s)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/environ", s->outsider);
	return made(open(path, O_RDONLY | O_CLOEXEC));
}

static int act_priority(const struct conform_scene *s)
{
	return said(setpriority(PRIO_PROCESS, (id_t)s->outsider, 5));
}

/* ---- what enforces -------------------------------------------------------------------------- */

static int act_bpf(const struct conform_scene *s)
{
	(void)s;
	return breach_bpf();
}

static int act_mount(const struct conform_scene *s)
{
	(void)s;
	return mount("none", ".", "tmpfs", 0, NULL) < 0 ? -errno : said(umount2(".", MNT_DETACH));
}

static int act_userns(const struct conform_scene *s)
{
	(void)s;
	return breach_userns();
}

static int act_hostname(const struct conform_scene *s)
{
	char name[65];

	(void)s;
	return gethostname(name, sizeof(name)) < 0 ? -errno
						   : said(sethostname(name, strnlen(name, 64)));
}

/* By number, past every name and directory on the way. */
static int act_handle(const struct conform_scene *s)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} h = { .handle.handle_bytes = MAX_HANDLE_SZ };
	own_fd dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	PATH(s, "outside/file");
	int mount;

	if (dir < 0 || name_to_handle_at(AT_FDCWD, path, &h.handle, &mount, 0) < 0)
		return errno == EOPNOTSUPP ? -ENOTSUP : -errno;
	return made(open_by_handle_at(dir, &h.handle, O_RDONLY | O_CLOEXEC));
}

static int act_perf(const struct conform_scene *s)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_TASK_CLOCK };

	(void)s;
	attr.exclude_kernel = attr.exclude_hv = 1;
	return made(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static int act_core_pattern(const struct conform_scene *s)
{
	(void)s;
	return made(open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC));
}

static int act_cgroup(const struct conform_scene *s)
{
	(void)s;
	return breach_cgroup();
}

/* ---- identity ------------------------------------------------------------------------------- */

static int act_capability(const struct conform_scene *s)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	(void)s;
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	return data[0].permitted || data[1].permitted ? 0 : -EPERM;
}

/* Since 6.2 TIOCSTI is refused where dev.tty.legacy_tiocsti is 0; the console's selection never was. */
static int act_type(const struct conform_scene *s)
{
	own_fd primary = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	own_fd terminal = -1;

	(void)s;
	if (primary < 0 || grantpt(primary) < 0 || unlockpt(primary) < 0)
		return -ENOTSUP;
	terminal = ioctl(primary, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	return terminal < 0 ? -errno : said(ioctl(terminal, TIOCSTI, "x"));
}

#define CALLERS_FD 57

static int act_descriptor(const struct conform_scene *s)
{
	(void)s;
	return said(fcntl(CALLERS_FD, F_GETFD));
}

static int act_variable(const struct conform_scene *s)
{
	(void)s;
	return getenv("SBX_CONFORM_TOKEN") ? 0 : -ENOENT;
}

/* ---- limits and ends ------------------------------------------------------------------------ */

static int act_allocate(const struct conform_scene *s)
{
	const size_t size = 96u << 20;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)s;
	if (at == MAP_FAILED)
		return -errno;
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)at)[i] = 1;
	return said(munmap(at, size));
}

static int act_fork(const struct conform_scene *s)
{
	pid_t children[24];
	int count = 0, rc = 0;

	(void)s;
	while (count < 24 && !rc) {
		children[count] = fork();
		if (!children[count])
			for (;;)
				pause();
		rc = children[count] < 0 ? -errno : 0;
		count += !rc;
	}
	while (count-- > 0) {
		kill(children[count], SIGKILL);
		waitpid(children[count], NULL, 0);
	}
	return rc;
}

static int act_grow(const struct conform_scene *s)
{
	static const char page[4096];
	own_fd fd = open("grown", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t n = 0;

	(void)s;
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 64 && n >= 0; i++)
		n = fd < 0 ? -1 : write(fd, page, sizeof(page));
	return said(n);
}

static int act_outlive(const struct conform_scene *s)
{
	(void)s;
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	return usleep(900000) < 0 ? -errno : 0;
}

/* It holds its lock while it lives, and lives while the file is there; what became of it is seen when the run has
 * ended. */
static int act_daemon(const struct conform_scene *s)
{
	PATH(s, CONFORM_LOCK);
	int fd = open(path, O_RDWR | O_CREAT, 0600), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0 || null < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	if (fork())
		return -EINPROGRESS;
	setsid();
	if (fork())
		_exit(0);
	dup2(null, 1);
	dup2(null, 2);
	for (int i = 0; i < 200 && access(path, F_OK) == 0; i++)
		usleep(50000);
	_exit(0);
}

static const struct conform_act acts[] = {
	{ "read", act_read },
	{ "make", act_make },
	{ "truncate", act_truncate },
	{ "chmod", act_chmod },
	{ "read_symlink", act_read_symlink },
	{ "read_link", act_read_link },
	{ "read_root", act_read_root },
	{ "rename", act_rename },
	{ "connect", act_connect },
	{ "unix", act_unix },
	{ "abstract", act_abstract },
	{ "packet", act_packet },
	{ "io_uring", act_io_uring },
	{ "shm", act_shm },
	{ "key", act_key },
	{ "signal", act_signal },
	{ "trace", act_trace },
	{ "memory", act_memory },
	{ "environ", act_environ },
	{ "priority", act_priority },
	{ "bpf", act_bpf },
	{ "mount", act_mount },
	{ "userns", act_userns },
	{ "hostname", act_hostname },
	{ "handle", act_handle },
	{ "perf", act_perf },
	{ "core_pattern", act_core_pattern },
	{ "cgroup", act_cgroup },
	{ "capability", act_capability },
	{ "type", act_type },
	{ "descriptor", act_descriptor },
	{ "variable", act_variable },
	{ "allocate", act_allocate },
	{ "fork", act_fork },
	{ "grow", act_grow },
	{ "outlive", act_outlive },
	{ "daemon", act_daemon },
};

int conform_act(int count, char **words)
{
	struct conform_scene s = { .outsider = 0 };
	int rc = -EINVAL;

	if (count != 5)
		return 2;
	snprintf(s.dir, sizeof(s.dir), "%s", words[1]);
	s.outsider = atoi(words[2]);
	s.port = atoi(words[3]);
	s.shm = atoi(words[4]);
	puts(CONFORM_BEGUN);
	fflush(stdout);
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(acts[i].name, words[0]))
			rc = acts[i].act(&s);
	if (rc)
		printf(CONFORM_REFUSED " %s\n", strerror(-rc));
	else
		puts(CONFORM_BREACHED);
	return 0;
}
