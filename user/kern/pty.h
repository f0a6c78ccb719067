/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pty: a pseudo-terminal for a run, and the state of the caller's own terminal.
 *
 * Mechanism only: it relays nothing, and it never changes a terminal whose foreground job we are not
 * (tcsetattr from the background would stop us, or change what the shell shows).
 */
#ifndef KERN_PTY_H
#define KERN_PTY_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "base/err.h"

struct pty {
	int master; /* non-blocking */
	int slave;
};
#define PTY_NONE                          \
	{                                 \
		.master = -1, .slave = -1 \
	}

/* Opens a pair. Window size and modes are those of the terminal `like`, -1: 80x24 and the kernel's
 * defaults. The slave belongs to `uid`, so that the command may open it by name. Both close on exec. */
int pty_open(struct pty *pty, int like, uid_t uid, struct err *err);
/* The keeper's copy must go once the command has its own, or its end is never seen. Idempotent. */
void pty_close_slave(struct pty *pty);
void pty_close(struct pty *pty);

/* Whether we are in the foreground job of terminal `fd`. */
bool pty_foreground(int fd);
/* Passes the window size of `from` on to `to`, whose foreground job then gets SIGWINCH. 0 or negative errno. */
int pty_copy_winsize(int from, int to);

/* The caller's terminal, as it was found. */
struct pty_saved {
	int fd; /* borrowed, -1: nothing to restore */
	struct termios modes;
};
#define PTY_SAVED_NONE   \
	{                \
		.fd = -1 \
	}

/* Saves the modes of `fd` and makes it raw. -EAGAIN when we are not its foreground job: nothing is
 * changed, and the caller tries again once it is continued in the foreground. */
int pty_raw(struct pty_saved *saved, int fd, struct err *err);
/* Puts the saved modes back, unless we are in the background by now: the shell then has its own.
 * Async-signal-safe; keeps the saved modes, so it may be called on every way out. */
void pty_restore(const struct pty_saved *saved);

#endif
