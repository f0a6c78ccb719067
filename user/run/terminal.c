/* SPDX-License-Identifier: Apache-2.0 */
#include "run/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/pty.h"
#include "run/state.h"

struct terminal {
	struct run *run;
	struct pty pty;
	struct pty_saved saved;
	struct loop_source keyboard, input; /* our stdin; the master, while it takes no more */
	char pending[4096];
	size_t len;
	bool ours; /* stdin is a terminal */
};

/*
 * The root leads its session, so its process group is orphaned and the kernel would drop the inner
 * terminal's SIGTSTP. While that group is in front and the line discipline would make the suspend character
 * a signal, it suspends the run as a whole; a shell inside with a job of its own in front gets it.
 */
static bool suspends(const struct terminal *t, char c)
{
	struct termios modes;
	pid_t front;

	if (tcgetattr(t->pty.master, &modes) < 0 || !(modes.c_lflag & ISIG))
		return false;
	if ((cc_t)c != modes.c_cc[VSUSP] || !t->ours)
		return false;
	return ioctl(t->pty.master, TIOCGPGRP, &front) == 0 && front == t->run->child.pid;
}

static void feed(struct terminal *t)
{
	while (t->len) {
		ssize_t n = write(t->pty.master, t->pending, t->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			loop_mod(t->run->loop, &t->keyboard, 0);
			loop_mod(t->run->loop, &t->input, EPOLLOUT);
			return;
		}
		if (n <= 0)
			n = (ssize_t)t->len; /* nobody is left to read it */
		t->len -= (size_t)n;
		memmove(t->pending, t->pending + n, t->len);
	}
	loop_mod(t->run->loop, &t->input, 0);
	loop_mod(t->run->loop, &t->keyboard, EPOLLIN);
}

static void on_room(void *arg, uint32_t events)
{
	(void)events;
	feed(arg);
}

static void on_keyboard(void *arg, uint32_t events)
{
	struct terminal *t = arg;
	char bytes[sizeof(t->pending)];
	ssize_t n = read(0, bytes, sizeof(bytes));

	(void)events;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <=
	    0) { /* the terminal is gone or stdin has ended: the command reads an end of file */
		char eof = 4;

		loop_del(t->run->loop, &t->keyboard);
		t->pending[0] = eof;
		t->len = n == 0;
		feed(t);
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (suspends(t, bytes[i]))
			run_suspend(t->run);
		else
			t->pending[t->len++] = bytes[i];
	}
	feed(t);
}

int terminal_open(struct terminal **out, struct run *run, struct err *err)
{
	struct terminal *t = calloc(1, sizeof(*t));
	int like = isatty(0) ? 0 : isatty(1) ? 1 : -1, rc;

	if (!t)
		return err_set(err, -ENOMEM, "pty");
	t->run = run;
	t->pty = (struct pty)PTY_NONE;
	t->saved = (struct pty_saved)PTY_SAVED_NONE;
	t->ours = isatty(0);
	rc = pty_open(&t->pty, like, run->switch_user ? run->user.uid : geteuid(), err);
	if (rc < 0) {
		free(t);
		return rc;
	}
	*out = t;
	return 0;
}

int terminal_master(const struct terminal *t)
{
	return t->pty.master;
}

int terminal_slave(const struct terminal *t)
{
	return t->pty.slave;
}

int terminal_start(struct terminal *t, struct err *err)
{
	struct loop *loop = t->run->loop;
	int rc;

	pty_close_slave(&t->pty);
	if (t->ours)
		pty_raw(&t->saved, 0,
			NULL); /* in the background: later, when we are continued in front */
	t->input = (struct loop_source){ .fd = t->pty.master, .ready = on_room, .arg = t };
	rc = loop_add(loop, &t->input, 0, err);
	if (rc < 0)
		return rc;
	t->keyboard = (struct loop_source){ .fd = 0, .ready = on_keyboard, .arg = t };
	/* A regular file as stdin cannot be polled, and a background job must not read the terminal. */
	if (t->ours ? pty_foreground(0) : t->run->spec->stdin_mode == STDIN_INHERIT)
		loop_add(loop, &t->keyboard, EPOLLIN, NULL);
	return 0;
}

void terminal_resize(struct terminal *t)
{
	if (t->ours)
		pty_copy_winsize(0, t->pty.master);
}

void terminal_suspend(struct terminal *t)
{
	loop_del(t->run->loop, &t->keyboard);
	pty_restore(&t->saved);
	t->saved = (struct pty_saved)PTY_SAVED_NONE;
}

void terminal_resume(struct terminal *t)
{
	if (t->keyboard.added || !t->ours || !pty_foreground(0) || pty_raw(&t->saved, 0, NULL) < 0)
		return;
	terminal_resize(t);
	loop_add(t->run->loop, &t->keyboard, EPOLLIN, NULL);
}

void terminal_close(struct terminal *t)
{
	if (!t)
		return;
	loop_del(t->run->loop, &t->keyboard);
	loop_del(t->run->loop, &t->input);
	pty_restore(&t->saved);
	pty_close(&t->pty);
	free(t);
}
