/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

#define ROWS 24
#define COLUMNS 80

/* By descriptor, never by name: /dev/pts may be another instance than the one /dev/ptmx belongs to. */
static int open_slave(int master)
{
	int unlock = 0;

	if (ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return -1;
	return ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static int dress(int master, int slave, int like, uid_t uid)
{
	struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
	struct termios modes;

	if (like >= 0) {
		if (ioctl(like, TIOCGWINSZ, &size) < 0 || tcgetattr(like, &modes) < 0 ||
		    tcsetattr(slave, TCSANOW, &modes) < 0)
			return -1;
	}
	if (ioctl(master, TIOCSWINSZ, &size) < 0)
		return -1;
	return fchown(slave, uid, (gid_t)-1);
}

int pty_open(struct pty *pty, int like, uid_t uid, struct err *err)
{
	own_fd master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	own_fd slave = -1;

	if (master < 0)
		return err_set(err, -errno, "open '/dev/ptmx'");
	slave = open_slave(master);
	if (slave < 0)
		return err_set(err, -errno, "open the other end of a pseudo-terminal");
	if (dress(master, slave, like, uid) < 0)
		return err_set(err, -errno, "set up a pseudo-terminal");

	pty->master = take_fd(&master);
	pty->slave = take_fd(&slave);
	return 0;
}

void pty_close_slave(struct pty *pty)
{
	close_fd(&pty->slave);
}

void pty_close(struct pty *pty)
{
	close_fd(&pty->master);
	close_fd(&pty->slave);
}

bool pty_foreground(int fd)
{
	return tcgetpgrp(fd) == getpgrp();
}

int pty_copy_winsize(int from, int to)
{
	struct winsize size;

	return ioctl(from, TIOCGWINSZ, &size) < 0 || ioctl(to, TIOCSWINSZ, &size) < 0 ? -errno : 0;
}

int pty_raw(struct pty_saved *saved, int fd, struct err *err)
{
	struct termios raw;

	if (tcgetattr(fd, &saved->modes) < 0)
		return err_set(err, -errno, "read the modes of the terminal");
	if (!pty_foreground(fd))
		return err_say(err, ERR_BUSY, -EAGAIN, "not the foreground job of the terminal");

	raw = saved->modes;
	cfmakeraw(&raw);
	/* Set before the change: a signal between the two restores what is still there. */
	saved->fd = fd;
	if (tcsetattr(fd, TCSADRAIN, &raw) < 0) {
		saved->fd = -1;
		return err_set(err, -errno, "make the terminal raw");
	}
	return 0;
}

void pty_restore(const struct pty_saved *saved)
{
	int error = errno;

	if (saved->fd >= 0 && pty_foreground(saved->fd))
		tcsetattr(saved->fd, TCSANOW, &saved->modes);
	errno = error;
}
