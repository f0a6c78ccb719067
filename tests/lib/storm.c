/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm forks WORKERS N     each of WORKERS forks N children that exit at once; exit 0 when all did
 * storm hop WORKERS         each hops for ever: forks, and the parent exits
 * storm bomb N              a fork bomb: every process forks until it may not, N deep at most; prints how many it made
 * storm into DIR            clone3 into the group DIR, without opening a file in it; prints what it got
 * storm threads N           as many threads as it may have, N at most, all alive at once; prints how many
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int worker(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

static int forks(int workers, int n)
{
	int failed = 0, status;

	for (int i = 0; i < workers; i++)
		if (fork() == 0)
			_exit(worker(n));
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

__attribute__((noreturn)) static void hop(void)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (;;) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		if (pid < 0)
			usleep(100);
	}
}

static int hops(int workers)
{
	for (int i = 0; i < workers; i++)
		if (fork() == 0)
			hop();
	for (;;)
		pause();
}

static int bomb(int n)
{
	int made = 0;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pause();
			_exit(0);
		}
		if (pid < 0)
			break;
		made++;
	}
	printf("%d %s\n", made, made < n ? strerror(errno) : "all");
	return 0;
}

static int into(const char *dir)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)fd,
	};
	long pid = fd < 0 ? -1 : syscall(SYS_clone3, &args, sizeof(args));

	if (!pid) {
		setsid();
		pause();
	}
	printf("%s\n", pid > 0 ? "in" : strerror(errno));
	return pid < 0;
}

static void *sleeper(void *arg)
{
	pause();
	return arg;
}

static int threads(int n)
{
	pthread_t thread;
	int made = 0, rc = 0;

	while (made < n && (rc = pthread_create(&thread, NULL, sleeper, NULL)) == 0)
		made++;
	printf("%d %s\n", made, rc ? strerror(rc) : "all");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(what, "forks") && argc > 3)
		return forks(n, atoi(argv[3]));
	if (!strcmp(what, "into"))
		return into(argv[2]);
	if (!strcmp(what, "hop"))
		return hops(n);
	if (!strcmp(what, "bomb"))
		return bomb(n);
	return !strcmp(what, "threads") ? threads(n) : 2;
}
