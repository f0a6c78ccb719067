/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 30 */
/* Pseudo-terminals, and what is done to the caller's own: raw only in the foreground, restored on every way out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kern/pty.h"

#define UID 65534

static struct pty open_pty(int like, uid_t uid)
{
	struct pty pty = PTY_NONE;
	struct err err;

	if (pty_open(&pty, like, uid, &err) < 0)
		fail_msg("%s", err.text);
	return pty;
}

static struct winsize size_of(int fd)
{
	struct winsize size;

	assert_int_equal(ioctl(fd, TIOCGWINSZ, &size), 0);
	return size;
}

static bool is_raw(int fd)
{
	struct termios modes;

	return tcgetattr(fd, &modes) == 0 && !(modes.c_lflag & (ICANON | ECHO | ISIG));
}

static void a_pty_without_a_model_is_80x24_and_the_run_users(void **state)
{
	struct pty pty = open_pty(-1, UID);
	struct winsize size = size_of(pty.slave);
	struct stat st;

	(void)state;
	assert_int_equal(size.ws_col, 80);
	assert_int_equal(size.ws_row, 24);
	assert_int_equal(fstat(pty.slave, &st), 0);
	assert_int_equal(st.st_uid, UID);
	assert_true(fcntl(pty.master, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(pty.slave, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(pty.master, F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(pty.slave, F_GETFL) & O_NONBLOCK);
	pty_close(&pty);
	pty_close(&pty);
	assert_int_equal(pty.master, -1);
}

static void size_and_modes_are_those_of_the_model(void **state)
{
	struct pty model = open_pty(-1, 0), pty;
	struct winsize size = { .ws_row = 50, .ws_col = 132 };
	struct termios modes, got;

	(void)state;
	assert_int_equal(ioctl(model.master, TIOCSWINSZ, &size), 0);
	assert_int_equal(tcgetattr(model.slave, &modes), 0);
	modes.c_cc[VERASE] = '#';
	modes.c_iflag |= IUTF8;
	assert_int_equal(tcsetattr(model.slave, TCSANOW, &modes), 0);

	pty = open_pty(model.slave, 0);
	assert_int_equal(size_of(pty.slave).ws_col, 132);
	assert_int_equal(size_of(pty.slave).ws_row, 50);
	assert_int_equal(tcgetattr(pty.slave, &got), 0);
	assert_int_equal(got.c_cc[VERASE], '#');
	assert_true(got.c_iflag & IUTF8);
	pty_close(&pty);
	pty_close(&model);
}

static void what_is_not_a_terminal_is_no_model(void **state)
{
	struct pty pty = PTY_NONE;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct err err;

	(void)state;
	assert_int_equal(pty_open(&pty, null, 0, &err), -ENOTTY);
	assert_int_equal(pty.master, -1);
	close(null);
}

static void the_end_is_seen_once_the_last_slave_is_closed(void **state)
{
	struct pty pty = open_pty(-1, 0);
	char byte;

	(void)state;
	assert_int_equal(read(pty.master, &byte, 1), -1);
	assert_int_equal(errno, EAGAIN);
	pty_close_slave(&pty);
	assert_int_equal(read(pty.master, &byte, 1), -1);
	assert_int_equal(errno, EIO);
	pty_close(&pty);
}

/* ---- as a job on a terminal of its own ---------------------------------------------------------------- */
#define CHECK(holds)                                                                          \
	do {                                                                                  \
		if (!(holds)) {                                                               \
			print_error("line %d: %s (%s)\n", __LINE__, #holds, strerror(errno)); \
			return 1;                                                             \
		}                                                                             \
	} while (0)

/* Runs `fn` as the leader of a session whose controlling terminal is the slave. */
static void on_terminal(int (*fn)(int tty))
{
	struct pty pty = open_pty(-1, 0);
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (setsid() < 0 || ioctl(pty.slave, TIOCSCTTY, 0) < 0)
			_exit(99);
		_exit(fn(pty.slave));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(is_raw(pty.slave));
	pty_close(&pty);
}

static int raw_and_back(int tty)
{
	struct pty_saved saved = PTY_SAVED_NONE;
	struct termios before = { 0 }, after = { 0 };
	struct err err;

	CHECK(tcgetattr(tty, &before) == 0);
	pty_restore(&saved); /* nothing saved, nothing done */
	CHECK(pty_foreground(tty));
	CHECK(pty_raw(&saved, tty, &err) == 0);
	CHECK(is_raw(tty));
	pty_restore(&saved);
	CHECK(tcgetattr(tty, &after) == 0);
	CHECK(!memcmp(&before, &after, sizeof(before)));
	pty_restore(&saved);
	return 0;
}

static void the_foreground_job_makes_it_raw_and_puts_it_back(void **state)
{
	(void)state;
	on_terminal(raw_and_back);
}

/* Returns what a child in a process group of its own, not the foreground one, returns. */
static int in_background(int tty, int (*fn)(int tty))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		_exit(fn(tty));
	}
	while (waitpid(pid, &status, WUNTRACED) < 0 && errno == EINTR)
		;
	if (WIFSTOPPED(status)) {
		kill(pid, SIGKILL);
		return 98; /* it touched the terminal */
	}
	return WEXITSTATUS(status);
}

static int tries_raw(int tty)
{
	struct pty_saved saved = PTY_SAVED_NONE;
	struct err err;

	CHECK(!pty_foreground(tty));
	CHECK(pty_raw(&saved, tty, &err) == -EAGAIN);
	CHECK(saved.fd == -1);
	CHECK(!is_raw(tty));
	return 0;
}

static int background_leaves_it_alone(int tty)
{
	return in_background(tty, tries_raw);
}

static void a_background_job_never_takes_the_terminal(void **state)
{
	(void)state;
	on_terminal(background_leaves_it_alone);
}

static int restores(int tty)
{
	struct pty_saved saved = { .fd = tty };

	tcgetattr(tty, &saved.modes);
	saved.modes.c_lflag |= ECHO;
	pty_restore(&saved);
	CHECK(is_raw(tty));
	return 0;
}

static int background_restores_nothing(int tty)
{
	struct pty_saved saved = PTY_SAVED_NONE;
	struct err err;
	int r;

	CHECK(pty_raw(&saved, tty, &err) == 0);
	r = in_background(tty, restores);
	pty_restore(&saved);
	return r;
}

static void what_went_to_the_background_does_not_change_the_shells_modes(void **state)
{
	(void)state;
	on_terminal(background_restores_nothing);
}

static struct pty_saved at_the_crash = PTY_SAVED_NONE;

static void on_crash(int sig)
{
	pty_restore(&at_the_crash);
	signal(sig, SIG_DFL);
	raise(sig);
}

static int crashes(int tty)
{
	struct err err;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGABRT, on_crash);
		if (pty_raw(&at_the_crash, tty, &err) == 0 && is_raw(tty))
			abort();
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	return 0;
}

static void a_crash_restores_it_too(void **state)
{
	(void)state;
	on_terminal(crashes);
}

static volatile sig_atomic_t resized;

static void on_resize(int sig)
{
	(void)sig;
	resized = 1;
}

static int sees_resize(int tty)
{
	struct pty caller = PTY_NONE;
	struct winsize size = { .ws_row = 11, .ws_col = 22 };
	struct err err;

	signal(SIGWINCH, on_resize);
	CHECK(pty_open(&caller, -1, 0, &err) == 0);
	CHECK(ioctl(caller.master, TIOCSWINSZ, &size) == 0);
	CHECK(!resized);
	CHECK(pty_copy_winsize(caller.slave, tty) == 0);
	CHECK(resized);
	CHECK(size_of(tty).ws_col == 22 && size_of(tty).ws_row == 11);
	CHECK(pty_copy_winsize(open("/dev/null", O_RDWR), tty) == -ENOTTY);
	return 0;
}

static void a_new_size_is_passed_on_and_the_job_is_told(void **state)
{
	(void)state;
	on_terminal(sees_resize);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pty_without_a_model_is_80x24_and_the_run_users),
		cmocka_unit_test(size_and_modes_are_those_of_the_model),
		cmocka_unit_test(what_is_not_a_terminal_is_no_model),
		cmocka_unit_test(the_end_is_seen_once_the_last_slave_is_closed),
		cmocka_unit_test(the_foreground_job_makes_it_raw_and_puts_it_back),
		cmocka_unit_test(a_background_job_never_takes_the_terminal),
		cmocka_unit_test(what_went_to_the_background_does_not_change_the_shells_modes),
		cmocka_unit_test(a_crash_restores_it_too),
		cmocka_unit_test(a_new_size_is_passed_on_and_the_job_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
