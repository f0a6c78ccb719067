/* SPDX-License-Identifier: Apache-2.0 */
/* The resolver's process: its sockets, its rights, and what it says to the keeper. */
#include "kern/resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/aside.h"
#include "kern/resolver_serve.h"
#include "policy/net_address.h"

#define NOBODY 65534
#define FILES_MAX 256
#define START_MS 3000
#define STOP_MS 1000
#define TRIES 64
#define BACKLOG 16

struct job {
	const struct net_policy *policy;
	struct resolver_fds fds;
};

/* ---- in the process ---------------------------------------------------------------------------- */

/* What c-ares, the loop and the C library do, and nothing that opens a file or starts a program. */
static const char *const calls[] = {
	"accept4",	 "bind",	   "brk",
	"clock_gettime", "close",	   "connect",
	"epoll_create1", "epoll_ctl",	   "epoll_wait",
	"exit",		 "exit_group",	   "fcntl",
	"futex",	 "getpeername",	   "getpid",
	"getrandom",	 "getsockname",	   "getsockopt",
	"gettimeofday",	 "ioctl",	   "lseek",
	"madvise",	 "mmap",	   "mprotect",
	"mremap",	 "munmap",	   "poll",
	"ppoll",	 "read",	   "readv",
	"recvfrom",	 "recvmsg",	   "restart_syscall",
	"rt_sigaction",	 "rt_sigprocmask", "rt_sigreturn",
	"sendmmsg",	 "sendmsg",	   "sendto",
	"setsockopt",	 "socket",	   "time",
	"write",	 "writev",
};

static int restrict_calls(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc = ctx ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		int number = seccomp_syscall_resolve_name(calls[i]);

		if (number >= 0)
			rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, number, 0);
	}
	if (rc == 0)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	return rc;
}

/* Nothing else stays open: the pipes of the run are not its own. */
static int keep_only(struct resolver_fds *fds)
{
	int *all[] = { &fds->channel, &fds->udp, &fds->tcp };

	for (size_t i = 0; i < 3; i++) {
		*all[i] = fcntl(*all[i], F_DUPFD, 64);
		if (*all[i] < 0)
			return -errno;
	}
	for (int i = 0; i < 3; i++) {
		if (dup2(*all[i], i) < 0)
			return -errno;
		*all[i] = i;
	}
	return close_range(3, ~0u, 0) < 0 ? -errno : 0;
}

static int give_up_rights(void)
{
	const struct rlimit files = { FILES_MAX, FILES_MAX }, none = { 0, 0 };

	if (setrlimit(RLIMIT_NOFILE, &files) || setrlimit(RLIMIT_FSIZE, &none) ||
	    setrlimit(RLIMIT_CORE, &none) || syscall(SYS_setgroups, 0, NULL) ||
	    setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0))
		return -errno;
	return restrict_calls();
}

/* Ends with the keeper: by its death, and by the end of the channel should that come first. */
static int resolve(void *arg)
{
	struct job *job = arg;
	struct resolver_word ready = { .kind = RESOLVER_READY };
	struct resolver_serve *serve;
	sigset_t all;
	int rc = keep_only(&job->fds);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "sbx-resolver");
	serve = rc == 0 ? resolver_serve_new(job->policy, &job->fds) : NULL;
	if (!serve || give_up_rights() < 0)
		return 1;
	if (send(job->fds.channel, &ready, sizeof(ready), MSG_NOSIGNAL) != sizeof(ready))
		return 1;
	resolver_serve_run(serve);
	return 0;
}

/* ---- in the keeper ------------------------------------------------------------------------------ */

static int bind_both(const struct sockaddr_in *at, struct resolver_fds *fds)
{
	const int one = 1;
	int rc = -1;

	fds->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	fds->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fds->udp >= 0 && fds->tcp >= 0 &&
	    setsockopt(fds->tcp, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(fds->udp, (const struct sockaddr *)at, sizeof(*at)) == 0 &&
	    bind(fds->tcp, (const struct sockaddr *)at, sizeof(*at)) == 0 &&
	    listen(fds->tcp, BACKLOG) == 0)
		return 0;
	rc = -errno;
	close_fd(&fds->udp);
	close_fd(&fds->tcp);
	return rc;
}

/* 127.64.0.0/10: what others use of 127.0.0.0/8 lies mostly at its begin. */
static int bind_somewhere(struct resolver *r, struct resolver_fds *fds, struct err *err)
{
	int rc = -EADDRINUSE;

	for (int i = 0; i < TRIES && rc == -EADDRINUSE; i++) {
		uint8_t bytes[4] = { 127 };
		struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(RESOLVER_PORT) };

		if (getrandom(bytes + 1, 3, 0) != 3)
			return err_set(err, -errno, "getrandom");
		bytes[1] = (uint8_t)(64 | (bytes[1] & 63));
		memcpy(&at.sin_addr, bytes, sizeof(bytes));
		r->address = net_address_v4(bytes);
		rc = bind_both(&at, fds);
	}
	if (rc == -EADDRINUSE)
		return err_cannot(err, "network_restriction",
				  "host names: a name server of this host has port 53 of every "
				  "address; have it listen on its own addresses alone (dnsmasq: "
				  "bind-interfaces), or allow addresses");
	return rc < 0 ? err_set(err, rc, "listen on port 53 of the loopback") : 0;
}

static int wait_ready(struct resolver *r, struct err *err)
{
	struct pollfd p = { .fd = r->channel, .events = POLLIN };
	struct resolver_word word;

	if (poll(&p, 1, START_MS) == 1 && resolver_next(r, &word) == 1 &&
	    word.kind == RESOLVER_READY)
		return 0;
	return err_set(err, -ECHILD, "the resolver did not start");
}

int resolver_start(struct resolver *r, const struct net_policy *policy, struct err *err)
{
	struct job job = { .policy = policy, .fds = { -1, -1, -1 } };
	own_fd far = -1;
	int pair[2], rc;

	*r = (struct resolver)RESOLVER_NONE;
	rc = bind_somewhere(r, &job.fds, err);
	if (rc == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		rc = err_set(err, -errno, "make the resolver's channel");
	if (rc == 0) {
		r->channel = pair[0];
		job.fds.channel = far = pair[1];
		r->pidfd = aside_start(resolve, &job, &r->pid);
		rc = r->pidfd < 0 ? err_set(err, r->pidfd, "start the resolver") : 0;
	}
	close_fd(&job.fds.udp);
	close_fd(&job.fds.tcp);
	close_fd(&far);
	if (rc == 0)
		rc = wait_ready(r, err);
	if (rc < 0)
		resolver_stop(r);
	return rc;
}

int resolver_next(struct resolver *r, struct resolver_word *word)
{
	ssize_t n = recv(r->channel, word, sizeof(*word), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof(*word) || word->address_count > DNS_ADDRESSES_MAX)
		return n == 0 ? -ECHILD : n < 0 ? -errno : -EPROTO;
	word->name[sizeof(word->name) - 1] = '\0';
	word->why[sizeof(word->why) - 1] = '\0';
	return 1;
}

void resolver_agree(struct resolver *r, bool admitted)
{
	const char word = admitted ? 'y' : 'n';

	/* Where it does not arrive, there is nobody left who could answer. */
	if (send(r->channel, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		close_fd(&r->channel);
}

void resolver_stop(struct resolver *r)
{
	close_fd(&r->channel);
	if (r->pidfd < 0)
		return;
	syscall(SYS_pidfd_send_signal, r->pidfd, SIGKILL, NULL, 0);
	aside_end(take_fd(&r->pidfd), STOP_MS);
}
