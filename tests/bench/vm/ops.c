/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops MODE [OPERATION...]
 *
 * Times system calls in a machine whose clock counts instructions (QEMU -icount), so that nanoseconds
 * an operation are instructions an operation. Each operation is repeated until its batches settle,
 * then a line "= MODE OPERATION INSTRUCTIONS" is printed with the median of the last batches. Who
 * runs when is fixed as far as it can be: no wake-up preempts, and children end one after the other.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Nine batches within a hundredth of each other are settled. A batch is well below a tick of the clock (4 million
 * instructions): the median is of batches without one, which would be a hundredth of an open. */
#define WINDOW 9
#define SETTLED 0.01
#define MAX_BATCHES 18
#define DEEPEST 20

struct bench {
	char dir[64];
	char file[DEEPEST + 1][256];
	char other[96], nothing[256];
	int write_fd, socket, receiver, gate[2];
	struct sockaddr_in to;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void open_at(const struct bench *b, int depth)
{
	int fd = open(b->file[depth], O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("open");
	close(fd);
}

static void op_open1(struct bench *b)
{
	open_at(b, 1);
}

static void op_open6(struct bench *b)
{
	open_at(b, 6);
}

static void op_open20(struct bench *b)
{
	open_at(b, 20);
}

static void op_stat(struct bench *b)
{
	struct stat st;

	if (stat(b->file[6], &st))
		fail("stat");
}

static void op_create(struct bench *b)
{
	int fd = open(b->other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || close(fd) || unlink(b->other))
		fail("create");
}

static void op_rename(struct bench *b)
{
	if (rename(b->file[1], b->other) || rename(b->other, b->file[1]))
		fail("rename");
}

static void op_connect(struct bench *b)
{
	if (connect(b->socket, (struct sockaddr *)&b->to, sizeof(b->to)))
		fail("connect");
}

static void op_sendto(struct bench *b)
{
	char byte = 0;

	if (sendto(b->socket, &byte, 1, 0, (struct sockaddr *)&b->to, sizeof(b->to)) != 1 ||
	    recv(b->receiver, &byte, 1, 0) != 1)
		fail("sendto");
}

static void reap(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail("child");
}

static void op_fork(struct bench *b)
{
	pid_t pid = fork();

	(void)b;
	if (pid == 0)
		_exit(0);
	reap(pid);
}

static void op_exec(struct bench *b)
{
	char *argv[] = { "nothing", NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		execv(b->nothing, argv);
		_exit(127);
	}
	reap(pid);
}

static void *thread_end(void *arg)
{
	return arg;
}

/* Children that wait for a byte in a pipe, in the order of their birth: the timed part is what comes
 * after. */
static void prepare_exit(struct bench *b, int n)
{
	char byte;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(read(b->gate[0], &byte, 1) != 1);
		if (pid < 0)
			fail("fork");
		sched_yield();
	}
}

static void op_exit(struct bench *b)
{
	char byte = 0;
	int status;

	if (write(b->gate[1], &byte, 1) != 1 || wait(&status) < 0 || status)
		fail("child");
}

static void op_thread(struct bench *b)
{
	pthread_t thread;

	(void)b;
	if (pthread_create(&thread, NULL, thread_end, NULL) || pthread_join(thread, NULL))
		fail("thread");
}

static void op_write(struct bench *b)
{
	static const char block[4096];

	if (pwrite(b->write_fd, block, sizeof(block), 0) != sizeof(block))
		fail("write");
}

static const struct operation {
	const char *name;
	void (*run)(struct bench *b);
	int batch;
	void (*prepare)(struct bench *b, int n);
} operations[] = {
	{ "open-1", op_open1, 60, NULL },     { "open-6", op_open6, 60, NULL },
	{ "open-20", op_open20, 30, NULL },   { "stat", op_stat, 100, NULL },
	{ "create", op_create, 20, NULL },    { "rename", op_rename, 20, NULL },
	{ "connect", op_connect, 100, NULL }, { "sendto", op_sendto, 50, NULL },
	{ "write", op_write, 100, NULL },     { "fork", op_fork, 10, NULL },
	{ "exec", op_exec, 10, NULL },	      { "exit", op_exit, 10, prepare_exit },
	{ "thread", op_thread, 10, NULL },
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double batch(const struct operation *op, struct bench *b)
{
	uint64_t start;

	if (op->prepare)
		op->prepare(b, op->batch);
	start = now();
	for (int i = 0; i < op->batch; i++)
		op->run(b);
	return (double)(now() - start) / op->batch;
}

static void measure(const char *mode, const struct operation *op, struct bench *b)
{
	double last[WINDOW], sorted[WINDOW];

	for (int i = 0; i < MAX_BATCHES; i++) {
		last[i % WINDOW] = batch(op, b);
		memcpy(sorted, last, sizeof(sorted));
		if (i < WINDOW - 1)
			continue;
		qsort(sorted, WINDOW, sizeof(*sorted), compare);
		if (sorted[WINDOW - 1] - sorted[0] <= SETTLED * sorted[0])
			break;
	}
	printf("= %s %s %.1f\n", mode, op->name, sorted[WINDOW / 2]);
	fflush(stdout);
}

/* One chain of directories with a file on the levels that are opened. */
static void make_files(struct bench *b)
{
	char path[256];
	int fd;

	snprintf(b->dir, sizeof(b->dir), "/tmp/ops-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s", b->dir);
	for (int depth = 1; depth <= DEEPEST; depth++) {
		if (depth > 2)
			strcat(path, "/d");
		if (depth > 1 && mkdir(path, 0700))
			fail(path);
		snprintf(b->file[depth], sizeof(b->file[depth]), "%s/f",
			 depth == 1 ? "/tmp" : path);
		if (depth == 1)
			snprintf(b->file[1], sizeof(b->file[1]), "/tmp/f-%d", (int)getpid());
		fd = open(b->file[depth], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			fail(b->file[depth]);
		close(fd);
	}
	snprintf(b->other, sizeof(b->other), "/tmp/g-%d", (int)getpid());
	b->write_fd = open(b->file[2], O_WRONLY | O_CLOEXEC);
}

static void make_sockets(struct bench *b)
{
	socklen_t size = sizeof(b->to);

	b->to = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	b->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	b->receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (b->socket < 0 || b->receiver < 0 ||
	    bind(b->receiver, (struct sockaddr *)&b->to, sizeof(b->to)) ||
	    getsockname(b->receiver, (struct sockaddr *)&b->to, &size))
		fail("socket");
}

/* The program to execute lies beside this one. */
static void find_nothing(struct bench *b, const char *self)
{
	const char *slash = strrchr(self, '/');

	snprintf(b->nothing, sizeof(b->nothing), "%.*snothing", slash ? (int)(slash - self) + 1 : 0,
		 self);
}

static bool asked(const char *name, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 2;
}

int main(int argc, char **argv)
{
	const struct sched_param none = { 0 };
	struct bench b = { 0 };

	if (argc < 2)
		return 2;
	if (sched_setscheduler(0, SCHED_BATCH, &none) || pipe(b.gate))
		fail("set up");
	find_nothing(&b, argv[0]);
	make_files(&b);
	make_sockets(&b);
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (asked(operations[i].name, argc, argv))
			measure(argv[1], &operations[i], &b);
	return 0;
}
