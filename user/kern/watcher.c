/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/aside.h"
#include "kern/half.h"
#include "kern/kill.h"

#define KILL_ROUNDS 1000 /* of 10 ms: who is alive then sleeps uninterruptibly */
#define STOP_MS 1000
#define LOOK_MS 500 /* between looks whether a tree without a keeper has ended */
#define OWN_FDS 4

struct watch {
	struct kern *k;
	uint64_t id;
	const char *cgroup;
	int control, keeper, owner, timer;
	short owner_events;
	const struct files *files;
	bool outlives;
	int *kept; /* room for all descriptors that it keeps */
};

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Closes all but those: the watcher must not hold a pipe of the run open. */
static void keep_only(int *fds, size_t count)
{
	unsigned int next = 0;

	qsort(fds, count, sizeof(*fds), by_number);
	for (size_t i = 0; i < count; i++) {
		if (fds[i] < 0)
			continue;
		if ((unsigned int)fds[i] > next)
			close_range(next, (unsigned int)fds[i] - 1, 0);
		next = (unsigned int)fds[i] + 1;
	}
	close_range(next, ~0u, 0);
}

/* The descriptors that stay open: those of the watch, of the kernel half, of the policy's objects. */
static size_t kept(const struct watch *w, int *fds)
{
	const int own[OWN_FDS] = { w->control, w->keeper, w->owner, w->timer };
	size_t pins, n = 0;
	const int *pin = files_pins(w->files, &pins);

	if (!fds)
		return OWN_FDS + HALF_PINS + pins;
	for (size_t i = 0; i < OWN_FDS; i++)
		fds[n++] = own[i];
	for (size_t i = 0; i < HALF_PINS; i++)
		fds[n++] = w->k->fds[i];
	for (size_t i = 0; i < pins; i++)
		fds[n++] = pin[i];
	return n;
}

static void detach(struct watch *w)
{
	sigset_t all;

	keep_only(w->kept, kept(w, w->kept));
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "sbx-watcher");
	prctl(PR_SET_DUMPABLE, 0);
}

static bool is_gone(const struct watch *w)
{
	struct sbx_sandbox row;

	return kern_sandbox_read(w->k, w->id, &row) || !row.live;
}

/* True when there is something to kill, false when the keeper says that there is not, or it is dead and the
 * tree, which outlives it, has ended. */
static bool wait_for_end(const struct watch *w)
{
	struct pollfd p[] = {
		{ .fd = w->control, .events = POLLIN },
		{ .fd = w->outlives ? -1 : w->keeper, .events = POLLIN },
		{ .fd = w->owner, .events = w->owner_events },
		{ .fd = w->timer, .events = POLLIN },
	};
	bool alone = false;
	char word;

	for (;;) {
		int n = poll(p, 4, alone ? LOOK_MS : -1);

		if (n < 0 && errno != EINTR)
			return true;
		if (n > 0 && p[0].revents && read(w->control, &word, 1) == 1)
			return false;
		if (n > 0 && (!w->outlives || !p[0].revents))
			return true;
		alone = alone || n > 0;
		p[0].fd = alone ? -1 : w->control;
		if (alone && is_gone(w))
			return false;
	}
}

static void kill_tree(const struct watch *w)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct kill_state state = { 0 };
	struct sbx_sandbox row;

	kern_sandbox_set_dying(w->k, w->id);
	for (int i = 0; i < KILL_ROUNDS; i++, nanosleep(&pause, NULL)) {
		if (kern_sandbox_read(w->k, w->id, &row) || !row.live)
			return;
		kill_round(w->k, w->id, w->cgroup, &state);
	}
}

static int watch(void *arg)
{
	struct watch *w = arg;

	if (w->files)
		files_hold(w->files, w->k);
	detach(w);
	if (wait_for_end(w))
		kill_tree(w);
	return 0;
}

static int check_free(struct kern *k, struct watcher *w, uint64_t id, struct err *err)
{
	uint64_t label;
	int rc = kern_label_of(k, w->pidfd, &label);

	if (!rc && label == id)
		rc = -EPROTO;
	if (!rc)
		return 0;
	aside_end(w->pidfd, 0);
	w->pidfd = -1;
	close_fd(&w->control_fd);
	return err_set(err, rc, "keep the watcher outside the sandbox");
}

int watcher_start(struct watcher *w, struct kern *k, const struct watcher_opts *opts,
		  struct err *err)
{
	own_fd keeper = -1, far = -1;
	struct watch job = { .k = k,
			     .id = opts->id,
			     .cgroup = opts->cgroup,
			     .owner = opts->owner_fd,
			     .owner_events = opts->owner_events,
			     .timer = opts->timer_fd,
			     .files = opts->files,
			     .outlives = opts->outlives };
	own_mem int *room = calloc(kept(&job, NULL), sizeof(*room));
	int pair[2];

	*w = (struct watcher){ .pid = -1, .pidfd = -1, .control_fd = -1 };
	job.kept = room;
	if (!room)
		return err_set(err, -ENOMEM, "start the watcher");
	if (half_fd(k, HALF_TASKS) < 0 || half_fd(k, HALF_THREADS) < 0)
		return err_set(err, -ENOENT, "open the pins in '%s'", k->dir);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(err, -errno, "make the watcher's socket");
	w->control_fd = pair[0];
	job.control = far = pair[1];
	job.keeper = keeper = (int)syscall(SYS_pidfd_open, getpid(), 0);
	w->pidfd = keeper < 0 ? -errno : aside_start(watch, &job, &w->pid);
	if (w->pidfd < 0) {
		int rc = w->pidfd;

		close_fd(&w->control_fd);
		return err_set(err, rc, "start the watcher");
	}
	return check_free(k, w, opts->id, err);
}

void watcher_stop(struct watcher *w)
{
	if (w->pidfd < 0)
		return;
	if (send(w->control_fd, "x", 1, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
	aside_end(take_fd(&w->pidfd), STOP_MS);
	close_fd(&w->control_fd);
}
