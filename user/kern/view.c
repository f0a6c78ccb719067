/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/view.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/half.h"
#include "sbx/view.h"

#define SANDBOX_BATCH 128

bool view_stale(struct kern *k)
{
	struct sbx_facts f;
	__u32 zero = 0;

	return bpf_map_lookup_elem(k->fds[HALF_FACTS], &zero, &f) || f.gone;
}

int view_sandboxes(struct kern *k, int (*fn)(void *arg, const struct sbx_sandbox *row), void *arg)
{
	struct batch {
		__u64 keys[SANDBOX_BATCH];
		struct sbx_sandbox rows[SANDBOX_BATCH];
		__u64 cursor;
	};
	own_mem struct batch *b = malloc(sizeof(*b));
	int fd = half_fd(k, HALF_SANDBOXES), rc = 0, end = 0;
	void *at = NULL;

	if (!b)
		return -ENOMEM;
	if (fd < 0)
		return fd;
	while (!end && !rc) {
		__u32 n = SANDBOX_BATCH;

		if (bpf_map_lookup_batch(fd, at, &b->cursor, b->keys, b->rows, &n, NULL)) {
			if (errno != ENOENT)
				return -errno;
			end = 1;
		}
		at = &b->cursor;
		for (__u32 i = 0; i < n && !rc; i++)
			rc = fn(arg, &b->rows[i]);
	}
	return rc;
}

/* ---- processes ------------------------------------------------------------------------------ */

/* task->__state as ps writes it. Frozen (a bit of its own since 6.1) counts as stopped where it shows. */
static char state_letter(const struct sbx_view *v)
{
	static const char letters[] = "RSDTtXZPI";
	uint32_t bits = v->state & 0x7f;

	if (v->flags & SBX_VIEW_EXITING)
		return 'X';
	if (v->state & 0x8000) /* TASK_FROZEN */
		return 'T';
	if (!bits)
		return v->state ? '?' : 'R';
	if ((v->state & 0x402) == 0x402) /* TASK_IDLE */
		return 'I';
	return letters[__builtin_ctz(bits) + 1];
}

/* Of the threads of one process the busiest tells. */
static char stronger(char a, char b)
{
	static const char order[] = "RDSTtIZX?";

	return strchr(order, a) <= strchr(order, b) ? a : b;
}

static int add(struct view_processes *p, const struct sbx_view *v)
{
	struct view_process *at;

	if (p->count == p->room) {
		size_t room = p->room ? 2 * p->room : 256;
		struct view_process *list = realloc(p->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		p->list = list;
		p->room = room;
	}
	at = &p->list[p->count++];
	*at = (struct view_process){
		.sandbox = v->sandbox,
		.start_ns = v->start_ns,
		.cpu_ns = v->cpu_ns,
		.ended_cpu_ns = v->dead_cpu_ns,
		.pid = v->tgid,
		.ppid = v->ppid,
		.threads = 1,
		.state = state_letter(v),
		.root = v->flags & SBX_VIEW_ROOT,
	};
	memcpy(at->comm, v->comm, sizeof(at->comm) - 1);
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct view_process *x = a, *y = b;

	if (x->sandbox != y->sandbox)
		return x->sandbox < y->sandbox ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Threads come by their own numbers, one record each: those of one process are put together. */
static void merge(struct view_processes *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct view_process *thread = &p->list[i];
		struct view_process *last = kept ? &p->list[kept - 1] : NULL;

		if (!last || by_place(last, thread)) {
			p->list[kept] = *thread;
			p->list[kept++].cpu_ns += thread->ended_cpu_ns;
			continue;
		}
		last->cpu_ns += thread->cpu_ns;
		last->threads++;
		last->state = stronger(last->state, thread->state);
		last->root |= thread->root;
	}
	p->count = kept;
}

/* A record may be cut by the end of a read. */
static int read_views(int fd, struct view_processes *out)
{
	struct sbx_view buf[512];
	size_t have = 0, whole;
	ssize_t n;
	int rc = 0;

	while (!rc && (n = read(fd, (char *)buf + have, sizeof(buf) - have)) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
		whole = have / sizeof(buf[0]);
		for (size_t i = 0; i < whole && !rc; i++)
			rc = add(out, &buf[i]);
		have %= sizeof(buf[0]);
		memmove(buf, buf + whole, have);
	}
	return rc;
}

int view_processes(struct kern *k, struct view_processes *out)
{
	int prog = half_fd(k, HALF_VIEW), rc;
	own_fd link = -1, fd = -1;

	out->count = 0;
	if (prog < 0)
		return prog;
	link = bpf_link_create(prog, 0, BPF_TRACE_ITER, NULL);
	if (link < 0)
		return -errno;
	fd = bpf_iter_create(link);
	if (fd < 0)
		return -errno;
	rc = read_views(fd, out);
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_place);
	merge(out);
	return rc;
}

void view_processes_done(struct view_processes *p)
{
	free(p->list);
	*p = (struct view_processes){ 0 };
}
