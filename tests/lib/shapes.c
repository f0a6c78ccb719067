/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes COOKIE [stay]: leaves a descendant in each shape that has hidden one from a supervisor, all sleeping, says
 * how many there are, and exits 0 (stay: sleeps too). The cookie is in every command line.
 * shapes COOKIE all FILE: those and the restless, which do not stand still to be killed, and stays; the restless write
 * to FILE all the time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char **arguments;

__attribute__((noreturn)) static void rest(void)
{
	for (;;)
		pause();
}

static void plain(void)
{
	rest();
}

static void session(void)
{
	setsid();
	rest();
}

static void group(void)
{
	setpgid(0, 0);
	rest();
}

static void daemonised(void)
{
	setsid();
	if (fork() != 0)
		_exit(0);
	for (int fd = 0; fd < 64; fd++)
		close(fd);
	rest();
}

static void sibling(void)
{
	if (syscall(SYS_clone, (unsigned long)CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) != 0)
		_exit(0);
	rest();
}

static void deaf(void)
{
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	rest();
}

static void stopped(void)
{
	raise(SIGSTOP);
	rest();
}

static void traced(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		rest();
	}
	rest();
}

static void *thread(void *arg)
{
	(void)arg;
	rest();
}

/* Its leader is a zombie; the other thread is the process. */
static void leaderless(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread, NULL);
	pthread_exit(NULL);
}

static void *exec_thread(void *arg)
{
	static char *argv[] = { (char *)"/proc/self/exe", NULL, (char *)"rest", NULL };

	(void)arg;
	argv[1] = arguments[1];
	execv(argv[0], argv);
	_exit(1);
}

static void thread_execs(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_thread, NULL);
	rest();
}

static void vforked(void)
{
	if (vfork() == 0) {
		execl("/proc/self/exe", "shapes", arguments[1], "rest", (char *)NULL);
		_exit(1);
	}
	rest();
}

static void in_namespaces(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) == 0 && fork() != 0)
		rest();
	rest();
}

static void renamed(void)
{
	prctl(PR_SET_NAME, "kworker/0:1", 0, 0, 0);
	rest();
}

static void subreaper(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (fork() == 0) {
		if (fork() != 0)
			_exit(0);
		rest();
	}
	rest();
}

static void (*const shapes[])(void) = {
	plain,	session,    group,	  daemonised, sibling,	     deaf,    stopped,
	traced, leaderless, thread_execs, vforked,    in_namespaces, renamed, subreaper,
};
#define SHAPES (sizeof(shapes) / sizeof(*shapes))

/* ---- the restless --------------------------------------------------------------------------- */

static void mark(void)
{
	int fd = open(arguments[3], O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0 || write(fd, "x", 1) != 1)
		_exit(1);
	close(fd);
	usleep(1000);
}

/* Never the same process for longer than a moment, and each in a session of its own. */
static void hopping(void)
{
	for (;;) {
		mark();
		if (fork() > 0)
			_exit(0);
		setsid();
	}
}

static void leave_another(int sig)
{
	(void)sig;
	if (fork() == 0)
		setsid();
}

/* Every polite signal makes one more of it. */
static void respawning(void)
{
	for (int sig = 1; sig < 32; sig++)
		signal(sig, sig == SIGCHLD ? SIG_IGN : leave_another);
	for (;;)
		mark();
}

/* A program that has no file. */
static void without_file(void)
{
	char *argv[] = { arguments[0], arguments[1], (char *)"rest", NULL };
	int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = (int)syscall(SYS_memfd_create, "nothing", MFD_CLOEXEC);
	struct stat st;

	if (own < 0 || fd < 0 || fstat(own, &st) < 0 ||
	    sendfile(fd, own, NULL, (size_t)st.st_size) != st.st_size)
		_exit(1);
	fexecve(fd, argv, environ);
	_exit(1);
}

static void (*const restless[])(void) = { hopping, hopping, respawning, without_file };
#define RESTLESS (sizeof(restless) / sizeof(*restless))

int main(int argc, char **argv)
{
	arguments = argv;
	if (argc < 2)
		return 2;
	if (argc > 2 && !strcmp(argv[2], "rest"))
		rest();
	for (size_t i = 0; i < SHAPES; i++)
		if (fork() == 0)
			shapes[i]();
	for (size_t i = 0; argc > 3 && i < RESTLESS; i++)
		if (fork() == 0)
			restless[i]();
	usleep(100000);
	printf("%zu shapes\n", SHAPES);
	fflush(stdout);
	if (argc > 2)
		rest();
	return 0;
}
