/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/kern.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/num.h"
#include "base/own.h"
#include "kern/half.h"

int kern_label_pidfd(struct kern *k, int pidfd, uint64_t id, struct err *err)
{
	struct half_threads t;
	int rc = half_threads(k, pidfd, id, SBX_CONTROL_LABEL, &t);

	if (!rc)
		rc = t.error;
	if (rc == -EBUSY)
		return err_say(err, ERR_BUSY, rc, "the process already belongs to another sandbox");
	if (rc == -ENOSPC)
		return err_say(err, ERR_BUSY, rc, "the kernel half tracks %d threads, its bound",
			       SBX_MAX_TASKS);
	return rc ? err_set(err, rc, "label the process") : 0;
}

int kern_label_of(struct kern *k, int pidfd, uint64_t *id)
{
	struct half_threads t;
	int rc = half_threads(k, pidfd, 0, SBX_CONTROL_LOOK, &t);

	*id = rc ? 0 : t.sandbox;
	return rc;
}

/* ---- walking the rows ----------------------------------------------------------------------- */

struct family { /* whether a sandbox is `id` or inside it; remembers the last answer */
	struct kern *k;
	uint64_t id, last;
	bool last_in;
};

static bool inside(struct family *f, uint64_t sandbox)
{
	struct sbx_sandbox row;
	uint64_t at = sandbox;

	if (!f->id || sandbox == f->id)
		return true;
	if (sandbox == f->last)
		return f->last_in;
	f->last = sandbox;
	f->last_in = false;
	for (int i = 0; i < SBX_MAX_NEST && at && !f->last_in; i++) {
		if (kern_sandbox_read(f->k, at, &row))
			break;
		at = row.parent;
		f->last_in = at == f->id;
	}
	return f->last_in;
}

#define BATCH 512

struct batch {
	__u64 keys[BATCH];
	struct sbx_task rows[BATCH];
	__u64 cursor;
};

/* Rows of sandbox `id` and of those inside, with their keys. A row that moves meanwhile may be
 * missed or come twice. */
static int each_row(struct kern *k, uint64_t id,
		    int (*fn)(void *arg, __u64 key, const struct sbx_task *row), void *arg)
{
	own_mem struct batch *b = malloc(sizeof(*b));
	struct family family = { .k = k, .id = id };
	int fd = half_fd(k, HALF_TASKS), rc = 0, end = 0;
	void *at = NULL;

	if (!b)
		return -ENOMEM;
	if (fd < 0)
		return fd;
	while (!end && !rc) {
		__u32 n = BATCH;

		if (bpf_map_lookup_batch(fd, at, &b->cursor, b->keys, b->rows, &n, NULL)) {
			if (errno != ENOENT)
				return -errno;
			end = 1;
		}
		at = &b->cursor;
		for (__u32 i = 0; i < n && !rc; i++)
			if (b->rows[i].sandbox && inside(&family, b->rows[i].sandbox))
				rc = fn(arg, b->keys[i], &b->rows[i]);
	}
	return rc;
}

struct each {
	int (*fn)(void *arg, const struct sbx_task *task);
	void *arg;
};

static int each_task(void *arg, __u64 key, const struct sbx_task *row)
{
	struct each *e = arg;

	(void)key;
	return e->fn(e->arg, row);
}

int kern_tasks_each(struct kern *k, uint64_t id, int (*fn)(void *arg, const struct sbx_task *task),
		    void *arg)
{
	struct each e = { fn, arg };

	return each_row(k, id, each_task, &e);
}

/* ---- signals -------------------------------------------------------------------------------- */

struct member {
	__u64 key, start_ns, sandbox;
	__u32 tgid, flags;
};

struct members {
	struct member *list;
	size_t count, room;
};

static int add_member(void *arg, __u64 key, const struct sbx_task *row)
{
	struct members *m = arg;
	struct member *grown;

	if (m->count == m->room) {
		m->room = m->room ? 2 * m->room : 64;
		grown = reallocarray(m->list, m->room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->list = grown;
	}
	m->list[m->count++] = (struct member){
		.key = key,
		.start_ns = row->start_ns,
		.sandbox = row->sandbox,
		.tgid = row->tgid,
		.flags = row->flags,
	};
	return 0;
}

static int by_tgid(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

static bool still_there(struct kern *k, const struct member *m)
{
	struct sbx_task row;

	return !bpf_map_lookup_elem(k->fds[HALF_TASKS], &m->key, &row) && row.tgid == m->tgid &&
	       row.start_ns == m->start_ns && row.sandbox == m->sandbox;
}

/*
 * Rows die with their thread: one that is still the same after pidfd_open proves that the pidfd is
 * of its process. Where exit hooks may be skipped it does not, and the process itself is asked.
 */
static bool is_member(struct kern *k, const struct member *m, int pidfd)
{
	uint64_t label;

	if (pidfd < 0 || m->flags & SBX_TASK_GONE || !still_there(k, m))
		return false;
	return k->facts.hook_copies == 1 ||
	       (!kern_label_of(k, pidfd, &label) && label == m->sandbox);
}

/* A row that outlived its process: what its exit hook would have done is done now. */
static void retire(struct kern *k, const struct member *m)
{
	struct sbx_control c = {
		.sandbox = m->sandbox,
		.what = SBX_CONTROL_RETIRE,
		.key = m->key,
		.start_ns = m->start_ns,
	};

	half_run(k->fds[HALF_CONTROL], &c, sizeof(c));
}

static bool signal_member(struct kern *k, const struct member *m, int sig)
{
	own_fd pidfd = (int)syscall(SYS_pidfd_open, (pid_t)m->tgid, 0);
	bool gone = (pidfd < 0 && errno == ESRCH) || m->flags & SBX_TASK_GONE;

	if (is_member(k, m, pidfd))
		return !syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
	if ((gone || (pidfd >= 0 && k->facts.hook_copies > 1)) && still_there(k, m))
		retire(k, m);
	return false;
}

/* In a container rows carry numbers that mean other processes here: ask each process that is
 * visible for its label. */
static int signal_by_proc(struct kern *k, uint64_t id, int sig)
{
	struct family family = { .k = k, .id = id };
	own_dir proc = opendir("/proc");
	struct dirent *e;
	uint64_t pid, label;
	int sent = 0;

	if (!proc)
		return -errno;
	while ((e = readdir(proc))) {
		own_fd pidfd = -1;

		if (num_u64(e->d_name, &pid))
			continue;
		pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (pidfd < 0 || kern_label_of(k, pidfd, &label) || !label ||
		    !inside(&family, label))
			continue;
		sent += !syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
	}
	return sent;
}

/* An embryo is a fork under way, or one whose hook was skipped: its row does not say who it is. */
static int signal_by_rows(struct kern *k, uint64_t id, int sig)
{
	struct members all = { 0 };
	int rc = each_row(k, id, add_member, &all), sent = 0;
	bool embryos = false;
	__u32 done = 0;

	qsort(all.list, all.count, sizeof(*all.list), by_tgid);
	for (size_t i = 0; !rc && i < all.count; i++) {
		embryos |= all.list[i].flags & SBX_TASK_EMBRYO;
		if (all.list[i].tgid == done || !signal_member(k, &all.list[i], sig))
			continue;
		done = all.list[i].tgid;
		sent++;
	}
	free(all.list);
	if (rc)
		return rc;
	return embryos ? signal_by_proc(k, id, sig) : sent;
}

int kern_signal_tree(struct kern *k, uint64_t id, int sig)
{
	if (!id)
		return -EINVAL;
	return half_host_pids(k) ? signal_by_rows(k, id, sig) : signal_by_proc(k, id, sig);
}
