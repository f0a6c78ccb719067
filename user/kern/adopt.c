/* SPDX-License-Identifier: Apache-2.0 */
/* adopt: a tree that runs already comes into a sandbox, and leaves it alive. */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "kern/half.h"
#include "sbx/adopt.h"

#define ADOPT_NS (5ULL * 1000000000)
#define QUIET_PASSES 2 /* that find nothing, with a pause between: a fork hook may be under way */
#define PAUSE_NS 2000000

static void breathe(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	nanosleep(&pause, NULL);
}

/* The iterator over all threads; its answer comes at the end. */
static int read_answer(int fd, struct sbx_adopted *out)
{
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, (char *)out + have, sizeof(*out) - have)) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
		if (have == sizeof(*out))
			return 0;
	}
	return -EPROTO;
}

static int pass(struct kern *k, uint64_t id, struct sbx_adopted *out)
{
	int prog = half_fd(k, HALF_ADOPT), rc;
	own_fd iter = prog < 0 ? prog : half_iter(prog, -1);

	*out = (struct sbx_adopted){ 0 };
	if (iter < 0)
		return iter;
	rc = half_control(k, id, SBX_CONTROL_ADOPT);
	if (!rc)
		rc = read_answer(iter, out);
	return rc ? rc : out->error;
}

/* Its number is the kernel's: in a container it means somebody else, and the process stays out. */
static int adopt_headless(struct kern *k, uint64_t id, const struct sbx_adopted *a)
{
	own_fd pidfd = -1;
	int rc;

	if (!a->headless || !half_host_pids(k))
		return 0;
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)a->headless, 0);
	rc = pidfd < 0 ? -errno : kern_label_pidfd(k, pidfd, id, NULL);
	return rc == -ESRCH || rc == -EBUSY ? 0 : rc;
}

static int failed(int rc, struct err *err)
{
	if (rc == -ENOSPC)
		return err_say(err, ERR_BUSY, rc,
			       "the tree has more threads than one sandbox can hold (%d)",
			       SBX_MAX_TASKS_PER_SANDBOX);
	return err_set(err, rc, "adopt the tree");
}

int kern_adopt(struct kern *k, int pidfd, uint64_t id, struct kern_adopted *out, struct err *err)
{
	uint64_t until_ns = clock_boot_ns() + ADOPT_NS;
	struct sbx_sandbox row = { 0 };
	struct sbx_adopted a;
	int rc = pidfd < 0 ? 0 : kern_label_pidfd(k, pidfd, id, err), quiet = 0;

	*out = (struct kern_adopted){ 0 };
	if (rc)
		return rc;
	while (quiet < QUIET_PASSES) {
		rc = pass(k, id, &a);
		if (!rc && a.headless)
			rc = adopt_headless(k, id, &a);
		if (rc)
			return failed(rc, err);
		out->passes++;
		quiet = a.added || a.headless ? 0 : quiet + 1;
		if (clock_boot_ns() > until_ns)
			return err_say(err, ERR_BUSY, -ETIMEDOUT,
				       "the tree grows faster than it can be adopted");
		if (quiet == 1)
			breathe();
	}
	rc = kern_sandbox_read(k, id, &row);
	out->threads = (unsigned int)row.live;
	out->processes = (unsigned int)row.live_processes;
	out->foreign = a.foreign;
	return rc ? failed(rc, err) : 0;
}

/* A fork hook that began before may still make a row: once more after a pause. */
int kern_let_go(struct kern *k, uint64_t id)
{
	uint64_t until_ns = clock_boot_ns() + ADOPT_NS;
	int fd = half_fd(k, HALF_LET_GO), rc = fd < 0 ? fd : 0, quiet = 0;

	while (!rc && quiet < QUIET_PASSES) {
		struct sbx_control c = { .sandbox = id };

		rc = half_run(fd, &c, sizeof(c));
		rc = rc ? rc : c.error;
		quiet = c.key ? 0 : quiet + 1;
		if (!rc && clock_boot_ns() > until_ns)
			rc = -ETIMEDOUT;
		breathe();
	}
	return rc;
}
