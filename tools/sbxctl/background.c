/* SPDX-License-Identifier: Apache-2.0 */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"

/* What goes through the pipe: one of these a message. */
struct message {
	enum { STARTED, ROOT_STATUS, EXIT_STATUS } kind;
	int status;
	char id[16];
};

static void send_message(struct background *b, const struct message *m)
{
	if (b->fd >= 0 && write(b->fd, m, sizeof(*m)) < 0)
		close_fd(&b->fd);
}

/* The caller's descriptors would keep its pipeline open for as long as the run lives. */
static void let_go(struct background *b)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	close_fd(&null);
	close_fd(&b->fd);
}

void background_started(struct background *b, const char *id)
{
	struct message m = { .kind = STARTED };

	if (b->fd < 0)
		return;
	snprintf(m.id, sizeof(m.id), "%s", id);
	send_message(b, &m);
	if (b->detach)
		let_go(b);
}

void background_tell(struct background *b, int wait_status)
{
	struct message m = { .kind = ROOT_STATUS, .status = wait_status };

	send_message(b, &m);
	let_go(b);
}

void background_ended(struct background *b, int exit_status)
{
	struct message m = { .kind = EXIT_STATUS, .status = exit_status };

	send_message(b, &m);
	close_fd(&b->fd);
}

/* Until the keeper says how it stands; signals of the terminal or of kill(1) go to it. */
static int front(int fd, pid_t keeper, bool detach)
{
	struct signalfd_siginfo info;
	struct message m;
	sigset_t set;
	own_fd signals = -1;

	sigemptyset(&set);
	for (const int *s = (const int[]){ SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, 0 };
	     *s; s++)
		sigaddset(&set, *s);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	for (;;) {
		struct pollfd p[] = { { .fd = fd, .events = POLLIN },
				      { .fd = signals, .events = POLLIN } };

		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents && read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
			kill(keeper, (int)info.ssi_signo);
		if (!p[0].revents)
			continue;
		if (read(fd, &m, sizeof(m)) != (ssize_t)sizeof(m))
			return 125; /* the keeper was killed, and the tree with it */
		if (m.kind == STARTED && detach) {
			puts(m.id);
			return fflush(stdout) == 0 ? 0 : 125;
		}
		if (m.kind == ROOT_STATUS)
			return WIFEXITED(m.status) ? WEXITSTATUS(m.status)
						   : 128 + WTERMSIG(m.status);
		if (m.kind == EXIT_STATUS)
			return m.status;
	}
}

int background_fork(struct background *b, bool detach, int *status, struct err *err)
{
	int pair[2];
	pid_t pid;

	b->detach = detach;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(err, -errno, "pipe");
	pid = fork();
	if (pid < 0)
		return err_set(err, -errno, "fork the keeper");
	if (pid > 0) {
		close(pair[1]);
		*status = front(pair[0], pid, detach);
		return 1;
	}
	close(pair[0]);
	b->fd = pair[1];
	setsid();
	signal(SIGPIPE, SIG_IGN);
	return 0;
}
