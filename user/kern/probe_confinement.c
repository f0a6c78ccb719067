/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, network, isolation, privileges, disk: what the host would refuse for us. `enforced` is only
 * said where this build lets a run ask for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/attempt.h"
#include "kern/confine.h"
#include "kern/files.h"
#include "kern/mounts.h"
#include "kern/net.h"
#include "kern/netns.h"
#include "kern/seccomp.h"
#include "kern/pidns.h"
#include "kern/probe.h"

#define DISK_CAP (1U << 20)
#define NOBODY 65534
#define REMEDY_NAMESPACES                                                          \
	"run as root (CAP_SYS_ADMIN); docker, podman: --privileged, or --cap-add " \
	"SYS_ADMIN with --security-opt seccomp=unconfined; Kubernetes: securityContext.privileged"

/* Every act: 0 when the forbidden thing was refused, 1 when it was not, 2 when it could not be set up. */

/* In a directory of our own: a denied file, one to read, and a place to write in. */
struct scratch {
	char dir[32], denied[48], plain[48], place[48];
	struct file_rule rules[3];
	struct file_policy policy;
};

static bool make_file(const char *path)
{
	own_fd fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

	return fd >= 0;
}

static bool scratch_make(struct scratch *s)
{
	*s = (struct scratch){ .dir = "/tmp/sbx-doctor.XXXXXX" };
	if (!mkdtemp(s->dir))
		return false;
	snprintf(s->denied, sizeof(s->denied), "%s/denied", s->dir);
	snprintf(s->plain, sizeof(s->plain), "%s/plain", s->dir);
	snprintf(s->place, sizeof(s->place), "%s/place", s->dir);
	s->rules[0] = (struct file_rule){ .path = (char *)"/",
					  .rights = FILE_READ | FILE_EXEC,
					  .directory = true };
	s->rules[1] = (struct file_rule){ .path = s->denied, .verb = FILE_DENY };
	s->rules[2] = (struct file_rule){ .path = s->place, .rights = FILE_ALL, .directory = true };
	s->policy = (struct file_policy){ .rules = s->rules, .count = 3 };
	return chmod(s->dir, 0755) == 0 && make_file(s->denied) && make_file(s->plain) &&
	       mkdir(s->place, 0755) == 0;
}

static void scratch_remove(const struct scratch *s)
{
	unlink(s->denied);
	unlink(s->plain);
	rmdir(s->place);
	rmdir(s->dir);
}

/* As a run does it: mounts, no capabilities, Landlock; what is allowed still works. */
static int meet_policy(void *arg)
{
	const struct scratch *s = arg;
	const struct confine_opts opts = { .policy = &s->policy,
					   .mounts = true,
					   .landlock = confine_landlock_abi() > 0 };
	static const struct mounts_opts bare;
	char what[MOUNTS_WHAT];
	int ruleset = -1;

	if (mounts_apply(&bare, what))
		return 2;
	ruleset = opts.landlock ? confine_ruleset(&opts, what) : -1;
	if ((opts.landlock && ruleset < 0) || confine_mounts(&opts, what) ||
	    setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    (opts.landlock && confine_restrict(ruleset, what)))
		return 2;
	if (open(s->plain, O_RDONLY) < 0)
		return 2;
	return open(s->denied, O_RDONLY) < 0 && open(s->plain, O_WRONLY) < 0 ? 0 : 1;
}

/* 192.0.2.1 is TEST-NET-1, and nobody's. */
static bool no_way_out(void)
{
	const struct sockaddr_in outside = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(0xc0000201),
	};
	own_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (const struct sockaddr *)&outside, sizeof(outside)) < 0 &&
	       errno == ENETUNREACH;
}

static int leave_network(void *arg)
{
	const struct seccomp_opts opts = { .sockets = true };
	char what[MOUNTS_WHAT];

	(void)arg;
	if (netns_enter(what) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    seccomp_apply(&opts, what))
		return 2;
	return no_way_out() && socket(AF_PACKET, SOCK_RAW, 0) < 0 && errno == SECCOMP_ERRNO ? 0 : 1;
}

/* From a pid namespace of its own, the process that made it has no number. */
static int signal_outside(void *arg)
{
	return getppid() == 0 && kill(*(pid_t *)arg, 0) < 0 && errno == ESRCH ? 0 : 1;
}

static int act_as_nobody(void *arg)
{
	(void)arg;
	if (syscall(SYS_setgroups, 0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return 2;
	if (setresuid(0, 0, 0) == 0)
		return 1;
	return kill(1, 0) < 0 && errno == EPERM ? 0 : 1;
}

static int fill_disk(void *arg)
{
	char what[MOUNTS_WHAT], page[4096] = { 0 };
	const struct mounts_opts opts = { .workdir = arg, .bytes = DISK_CAP };
	int fd;

	if (mounts_apply(&opts, what))
		return 2;
	fd = openat(AT_FDCWD, arg, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return 2;
	for (size_t done = 0; done < 2UL * DISK_CAP; done += sizeof(page))
		if (write(fd, page, sizeof(page)) < 0)
			return errno == ENOSPC ? 0 : 1;
	return 1;
}

static const char *told(int status)
{
	if (status < 0)
		return strerrordesc_np(-status);
	return status == 0 ? "refused" : status == 1 ? "not refused" : "could not be set up";
}

static void fill(struct probe_row *row, int status, const char *mechanism, const char *what,
		 const char *remedy)
{
	row->attempted = row->enforced = status == 0;
	probe_say(row, mechanism, "%s: %s", what, told(status));
	if (status)
		snprintf(row->remedy, sizeof(row->remedy), "%s", remedy);
}

static void files_by_mounts(struct probe_row *row)
{
	struct scratch s;

	if (scratch_make(&s))
		fill(row, attempt(NULL, meet_policy, &s), "private mounts, landlock",
		     "reading a denied file and writing a read-only one", REMEDY_NAMESPACES);
	else
		probe_say(row, "none", "make a scratch directory in /tmp: %s",
			  strerrordesc_np(errno));
	scratch_remove(&s);
}

/* Tier A: the hooks were tried when they were loaded, or are now. */
static void files(struct probe_report *r)
{
	struct probe_row *row = &r->rows[CAP_FILESYSTEM_CONFINEMENT],
			 *future = &r->rows[CAP_FILESYSTEM_DENY_FUTURE];
	const char *why = "the kernel half does not load";
	struct kern *k = NULL;
	bool hooks = !kern_open(&k, NULL) && files_available(k, &why);

	row->listed = hooks || confine_landlock_abi() > 0;
	future->listed = r->rows[CAP_LSM_ENFORCEMENT].listed;
	if (hooks) {
		row->attempted = row->enforced = future->attempted = future->enforced = true;
		probe_say(row, "bpf lsm walk", "an open that a rule denies: refused");
		probe_say(future, "bpf lsm walk", "a name that a rule denies: refused");
	} else {
		files_by_mounts(row);
		probe_say(future, "none", "needs BPF LSM: %s", why);
		snprintf(future->remedy, sizeof(future->remedy), "%s",
			 r->rows[CAP_LSM_ENFORCEMENT].remedy);
	}
	kern_close(k);
}

static void network(struct probe_row *row)
{
	const char *why = "the kernel half does not load";
	struct kern *k = NULL;
	bool hooks = !kern_open(&k, NULL) && kern_net_available(k, &why);

	row->listed = !access("/proc/self/ns/net", F_OK);
	fill(row, attempt(NULL, leave_network, NULL), "network namespace, seccomp",
	     "a way out of an empty network namespace, and a packet socket", REMEDY_NAMESPACES);
	if (row->enforced && hooks)
		probe_say(row,
			  kern_net_lsm(k) ? "network namespace, hooks by label, bpf lsm"
					  : "network namespace, hooks by label, seccomp",
			  "a way out of an empty network namespace, a packet socket, and a connect "
			  "that no rule admits: refused");
	else if (row->enforced)
		probe_say(row, row->mechanism,
			  "a way out of an empty network namespace, and a packet socket: refused; "
			  "--net allow is not to be had: %s",
			  why);
	kern_close(k);
}

static void isolation(struct probe_row *row)
{
	struct pidns ns = PIDNS_NONE;
	struct err err = { 0 };
	pid_t self = getpid();
	int status = 2;

	row->listed = !access("/proc/self/ns/pid", F_OK);
	if (!pidns_start(&ns, PIDNS_NO_ENDS, &err) && !pidns_enter(&ns, &err)) {
		status = attempt(NULL, signal_outside, &self);
		/* Without the way back our next children would be born in there. */
		if (pidns_leave(&err))
			status = 2;
	}
	pidns_stop(&ns);
	fill(row, status, "pid namespace (--pid-ns on)", "a signal out of the pid namespace",
	     REMEDY_NAMESPACES);
}

static void privileges(struct probe_row *row)
{
	row->listed = true;
	fill(row, attempt(NULL, act_as_nobody, NULL), "uid (-u USER)",
	     "root's rights and a signal to pid 1 for another user", "run as root");
}

static void disk(struct probe_row *row)
{
	char dir[] = "/tmp/sbx-doctor.XXXXXX";

	row->listed = true;
	if (!mkdtemp(dir)) {
		probe_say(row, "none", "mkdtemp in /tmp: %s", strerrordesc_np(errno));
		return;
	}
	fill(row, attempt(NULL, fill_disk, dir), "tmpfs (--workdir new, --private-tmp)",
	     "2 MiB in a working directory of 1 MiB", REMEDY_NAMESPACES);
	rmdir(dir);
}

void probe_confinement(struct probe_report *r)
{
	files(r);
	network(&r->rows[CAP_NETWORK_RESTRICTION]);
	isolation(&r->rows[CAP_PROCESS_ISOLATION]);
	privileges(&r->rows[CAP_PRIVILEGE_SEPARATION]);
	disk(&r->rows[CAP_DISK_CAP]);
}
