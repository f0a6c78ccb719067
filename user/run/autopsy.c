/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autopsy: before a forced end, who was alive and what each waited for. For people: bounded in rows and
 * in time, and anything unreadable is left empty, since nothing may delay the kill.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "run/state.h"

#define AUTOPSY_NS (5ULL * 1000000)

struct autopsy {
	struct run *run;
	uint64_t until_ns;
	ino_t pipes[2];
};

/* What descriptor `fd` of the process is. */
static void fd_name(int proc, long fd, char *buf, size_t size)
{
	char path[40], target[80];
	ssize_t n;

	snprintf(path, sizeof(path), "fd/%ld", fd);
	n = readlinkat(proc, path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(buf, size, "fd %ld %s", fd, target);
}

/* The path at `address` of the process: of a FIFO without a peer, or on a file system that does not answer. */
static void path_name(int proc, unsigned long address, char *buf, size_t size)
{
	own_fd mem = openat(proc, "mem", O_RDONLY | O_CLOEXEC);
	ssize_t n = mem < 0 ? 0 : pread(mem, buf, size - 1, (off_t)address);

	buf[n > 0 ? n : 0] = '\0';
}

enum argument { ARG_NONE, ARG_FD, ARG_PID, ARG_PATH };
struct blocking_call {
	long nr;
	const char *name;
	enum argument first, second;
};

/* clang-format off */
static const struct blocking_call blocking_calls[] = {
	{SYS_read, "read", ARG_FD, ARG_NONE}, {SYS_write, "write", ARG_FD, ARG_NONE},
	{SYS_readv, "read", ARG_FD, ARG_NONE}, {SYS_writev, "write", ARG_FD, ARG_NONE},
	{SYS_pread64, "read", ARG_FD, ARG_NONE}, {SYS_recvfrom, "receive", ARG_FD, ARG_NONE},
	{SYS_recvmsg, "receive", ARG_FD, ARG_NONE}, {SYS_sendto, "send", ARG_FD, ARG_NONE},
	{SYS_connect, "connect", ARG_FD, ARG_NONE}, {SYS_accept, "accept", ARG_FD, ARG_NONE},
	{SYS_accept4, "accept", ARG_FD, ARG_NONE}, {SYS_flock, "flock", ARG_FD, ARG_NONE},
	{SYS_wait4, "wait for child", ARG_PID, ARG_NONE}, {SYS_waitid, "wait for child", ARG_NONE, ARG_NONE},
	{SYS_clock_nanosleep, "sleep", ARG_NONE, ARG_NONE}, {SYS_futex, "futex", ARG_NONE, ARG_NONE},
	{SYS_rt_sigsuspend, "signal", ARG_NONE, ARG_NONE}, {SYS_rt_sigtimedwait, "signal", ARG_NONE, ARG_NONE},
	{SYS_epoll_pwait, "epoll", ARG_FD, ARG_NONE}, {SYS_ppoll, "poll", ARG_NONE, ARG_NONE},
	{SYS_pselect6, "select", ARG_NONE, ARG_NONE}, {SYS_openat, "open", ARG_NONE, ARG_PATH},
#ifdef SYS_poll /* architectures with the old calls */
	{SYS_poll, "poll", ARG_NONE, ARG_NONE}, {SYS_select, "select", ARG_NONE, ARG_NONE},
	{SYS_pause, "signal", ARG_NONE, ARG_NONE}, {SYS_nanosleep, "sleep", ARG_NONE, ARG_NONE},
	{SYS_open, "open", ARG_PATH, ARG_NONE}, {SYS_epoll_wait, "epoll", ARG_FD, ARG_NONE},
#endif
};
/* clang-format on */

static const struct blocking_call *find_call(long nr)
{
	for (size_t i = 0; i < sizeof(blocking_calls) / sizeof(*blocking_calls); i++)
		if (blocking_calls[i].nr == nr)
			return &blocking_calls[i];
	return NULL;
}

static void argument_text(int proc, enum argument kind, unsigned long value, char *buf, size_t size)
{
	if (kind == ARG_FD)
		fd_name(proc, (long)value, buf, size);
	else if (kind == ARG_PATH)
		path_name(proc, value, buf, size);
	else if (kind == ARG_PID && (int)value > 0)
		snprintf(buf, size, "%d", (int)value);
}

static void waits_for(int proc, struct autopsy_row *row)
{
	char text[256], what[100] = "", *end;
	const struct blocking_call *call;
	unsigned long first, second;
	long nr;

	if (io_read_file(proc, "syscall", text, sizeof(text)) <= 0 || !strncmp(text, "running", 7))
		return;
	nr = strtol(text, &end, 10);
	first = strtoul(end, &end, 16);
	second = strtoul(end, NULL, 16);
	call = find_call(nr);
	if (!call) {
		snprintf(row->waits_for, sizeof(row->waits_for), "system call %ld", nr);
		return;
	}
	argument_text(proc, call->first, first, what, sizeof(what));
	argument_text(proc, call->second, second, what, sizeof(what));
	snprintf(row->waits_for, sizeof(row->waits_for), "%s%s%.70s", call->name,
		 what[0] ? " " : "", what);
}

/* "pid (comm) S ppid … utime stime": comm may hold anything, so count from its last ')'. */
static void read_stat(int proc, struct autopsy_row *row)
{
	unsigned long long utime = 0, stime = 0;
	char text[512], *at;

	if (io_read_file(proc, "stat", text, sizeof(text)) <= 0 || !(at = strrchr(text, ')')))
		return;
	if (sscanf(at + 2, "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &row->state,
		   &utime, &stime) == 3)
		row->cpu_ns = (utime + stime) *
			      (1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK));
}

static bool writes_to_us(const struct autopsy *a, int proc)
{
	struct stat st;

	for (int fd = 1; fd <= 2; fd++)
		if (fstatat(proc, fd == 1 ? "fd/1" : "fd/2", &st, 0) == 0 &&
		    (st.st_ino == a->pipes[0] || st.st_ino == a->pipes[1]))
			return true;
	return false;
}

static int examine(void *arg, const struct sbx_task *task)
{
	struct autopsy *a = arg;
	struct result *r = &a->run->result;
	struct autopsy_row *row;
	own_fd proc = -1;
	char path[32];

	if (task->pid != task->tgid)
		return 0;
	if (r->autopsy_count == RESULT_AUTOPSY_MAX)
		return -1;
	if (r->autopsy_count && clock_boot_ns() > a->until_ns) /* one is affordable anywhere */
		return -1;
	snprintf(path, sizeof(path), "/proc/%u", task->tgid);
	proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return 0;
	row = &r->autopsy[r->autopsy_count++];
	*row = (struct autopsy_row){ .pid = task->tgid,
				     .state = '?',
				     .cpu_ns = RESULT_NONE,
				     .last_output_ns = RESULT_NONE };
	io_read_file(proc, "comm", row->comm, sizeof(row->comm));
	io_read_file(proc, "wchan", row->wchan, sizeof(row->wchan));
	read_stat(proc, row);
	waits_for(proc, row);
	if (a->run->capture.last_output_ns && writes_to_us(a, proc))
		row->last_output_ns = a->run->capture.last_output_ns;
	return 0;
}

void run_autopsy(struct run *run)
{
	struct autopsy a = { .run = run, .until_ns = clock_boot_ns() + AUTOPSY_NS };
	struct stat st;

	run->result.autopsy = calloc(RESULT_AUTOPSY_MAX, sizeof(*run->result.autopsy));
	if (!run->result.autopsy)
		return;
	for (int i = 0; i < 2; i++)
		if (run->capture.streams[i].in.fd >= 0 &&
		    fstat(run->capture.streams[i].in.fd, &st) == 0)
			a.pipes[i] = st.st_ino;
	kern_tasks_each(run->kern, run->id, examine, &a);
}
