/* SPDX-License-Identifier: Apache-2.0 */
#include "run/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/io.h"
#include "base/own.h"

#define BUF_BYTES (64 * 1024)
#define PIPE_BYTES (256 * 1024)
#define READS_A_TURN 8 /* then the loop looks at its timers */

void capture_init(struct capture *c, struct loop *loop, const struct capture_hooks *hooks,
		  uint64_t limit)
{
	*c = (struct capture){ .loop = loop, .hooks = *hooks, .limit = limit };
	for (int i = 0; i < 2; i++)
		c->streams[i] = (struct stream){ .in.fd = -1, .out.fd = -1, .store.fd = -1 };
}

static void told_if_drained(struct capture *c)
{
	if (capture_drained(c) && c->hooks.drained)
		c->hooks.drained(c->hooks.arg);
}

bool capture_drained(const struct capture *c)
{
	for (int i = 0; i < 2; i++)
		if (c->streams[i].open || c->streams[i].at < c->streams[i].len)
			return false;
	return true;
}

static void close_in(struct stream *s)
{
	if (s->in.fd < 0)
		return;
	loop_del(s->capture->loop, &s->in);
	close_fd(&s->in.fd);
	s->open = false;
}

static void drop_sink(struct stream *s)
{
	loop_del(s->capture->loop, &s->out);
	if (s->own_sink)
		close_fd(&s->out.fd);
	s->out.fd = -1;
	s->len = s->at = 0;
	if (s->open)
		loop_mod(s->capture->loop, &s->in, EPOLLIN);
}

static ssize_t sink_write(struct stream *s)
{
	ssize_t n;

	do
		n = s->socket ? io_send_nowait(s->out.fd, s->buf + s->at, s->len - s->at)
			      : write(s->out.fd, s->buf + s->at, s->len - s->at);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Writes what waits. True when nothing is left of it. */
static bool flush(struct stream *s)
{
	int error;

	while (s->out.fd >= 0 && s->at < s->len) {
		ssize_t n = sink_write(s);

		if (n > 0) {
			s->at += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EAGAIN)
			return false;
		error = n < 0 ? errno : EIO;
		drop_sink(s);
		close_in(s);
		if (s->capture->hooks.sink_gone)
			s->capture->hooks.sink_gone(s->capture->hooks.arg, error);
	}
	s->len = s->at = 0;
	return true;
}

static void on_sink(void *arg, uint32_t events)
{
	struct stream *s = arg;

	(void)events;
	if (!flush(s))
		return;
	if (s->out.fd >= 0)
		loop_mod(s->capture->loop, &s->out, 0);
	if (s->open)
		loop_mod(s->capture->loop, &s->in, EPOLLIN);
	told_if_drained(s->capture);
}

static void wait_for_sink(struct stream *s)
{
	if (s->open)
		loop_mod(s->capture->loop, &s->in, 0);
	loop_mod(s->capture->loop, &s->out, EPOLLOUT);
}

/* Counts, keeps and passes on one chunk that is in the buffer. False: the sink blocks or the cap is crossed. */
static bool take(struct stream *s, size_t len)
{
	struct capture *c = s->capture;
	uint64_t room = c->limit - c->seen;
	bool over = len > room;
	int rc;

	if (over)
		len = (size_t)room;
	c->seen += len;
	c->last_output_ns = clock_boot_ns();
	rc = store_add(&s->store, s->buf, len);
	if (rc < 0 && c->hooks.spill_failed)
		c->hooks.spill_failed(c->hooks.arg, rc);
	if (c->hooks.output)
		c->hooks.output(c->hooks.arg, s->number, s->buf, len);
	s->at = 0;
	s->len = s->out.fd >= 0 ? len : 0;
	if (over && !c->over) {
		c->over = true;
		c->hooks.over(c->hooks.arg);
	}
	if (flush(s))
		return !over;
	wait_for_sink(s);
	return false;
}

static ssize_t read_in(struct stream *s)
{
	if (!s->buf)
		s->buf = malloc(BUF_BYTES);
	if (!s->buf || FAULT("capture_read")) {
		errno = s->buf ? EIO : ENOMEM;
		return -1;
	}
	return read(s->in.fd, s->buf, BUF_BYTES);
}

static void ended(struct stream *s, int error)
{
	struct capture *c = s->capture;

	close_in(s);
	if (error && !(s->pty && error == EIO) && c->hooks.read_failed)
		c->hooks.read_failed(c->hooks.arg, error);
}

static void on_input(void *arg, uint32_t events)
{
	struct stream *s = arg;

	(void)events;
	for (int i = 0; s->open && i < READS_A_TURN; i++) {
		ssize_t n = read_in(s);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			ended(s, n < 0 ? errno : 0);
			break;
		}
		if (s->capture->over)
			continue; /* the kill is on its way: read on, keep nothing */
		if (!take(s, (size_t)n))
			break;
	}
	told_if_drained(s->capture);
}

/*
 * A sink of our own description, so that O_NONBLOCK does not leak to whoever shares the caller's. A socket (what
 * node.js hands out as a pipe) cannot be opened again, but each send can say that it does not wait.
 * Regular files have their offset in the shared description and never block: they stay as they are.
 */
static void open_sink(struct stream *s, int sink)
{
	struct stat st;
	char path[40];
	int fd;

	s->out.fd = sink;
	if (sink < 0 || fstat(sink, &st) < 0)
		return;
	s->socket = S_ISSOCK(st.st_mode);
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sink);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return;
	s->out.fd = fd;
	s->own_sink = true;
}

int capture_add(struct capture *c, int number, int fd, int sink, struct err *err)
{
	struct stream *s = &c->streams[number - 1];
	int rc;

	s->capture = c;
	s->number = number;
	s->in = (struct loop_source){ .fd = fd, .ready = on_input, .arg = s };
	s->open = true;
	s->pty = fcntl(fd, F_GETPIPE_SZ) < 0;
	fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); /* past the user's bound it fails, harmlessly */
	fcntl(fd, F_SETFL, O_NONBLOCK);
	open_sink(s, sink);
	s->out.ready = on_sink;
	s->out.arg = s;
	rc = loop_add(c->loop, &s->in, EPOLLIN, err);
	if (rc == 0 && s->out.fd >= 0)
		loop_add(c->loop, &s->out, 0, NULL);
	return rc;
}

void capture_close(struct capture *c)
{
	for (int i = 0; i < 2; i++)
		close_in(&c->streams[i]);
}

void capture_drop_sinks(struct capture *c)
{
	for (int i = 0; i < 2; i++)
		if (c->streams[i].out.fd >= 0)
			drop_sink(&c->streams[i]);
	told_if_drained(c);
}

void capture_sweep(struct capture *c)
{
	for (int i = 0; i < 2; i++)
		if (c->streams[i].open)
			on_input(&c->streams[i], EPOLLIN);
}

void capture_done(struct capture *c)
{
	for (int i = 0; i < 2; i++) {
		struct stream *s = &c->streams[i];

		if (!s->capture)
			continue;
		close_in(s);
		drop_sink(s);
		store_done(&s->store);
		free(take_ptr(&s->buf));
	}
}
