/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper's signals, as descriptors. INT, TERM, HUP and QUIT go to the root's process group and start the
 * grace; a second INT or TERM kills. USR1 and USR2 are passed on. TSTP freezes the tree and stops us;
 * whoever continues us thaws it. CHLD: we are the tree's subreaper. What we were started to ignore of
 * the terminal's signals stays ignored.
 */
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "run/nest.h"
#include "run/state.h"

#define REAPS_A_TURN 64

static const int handled[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
			       SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD, SIGWINCH };

static void root_ended(struct run *run, int status)
{
	run->root_status = status;
	run->root_exited = true;
	/* The kernel half may have ended it, and said why, before any of our sources did. */
	deadline_reason(run, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	run_event(run, run->spec->leftovers == LEFTOVERS_KILL ? EV_ROOT_EXIT : EV_ROOT_LINGER);
}

/* Orphans of a storm may come faster than a starved keeper reaps them: then the deadline is looked at in between. */
static bool reap(struct run *run)
{
	int status, n = 0;
	pid_t pid;

	while (n++ < REAPS_A_TURN && (pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == run->watcher.pid)
			run->watcher.pid = -1;
		if (pid != run->child.pid)
			continue;
		run->child.pid = -1; /* the number may be somebody else's from now on */
		if (!run->root_exited)
			root_ended(run, status);
	}
	if (n <= REAPS_A_TURN)
		return true;
	raise(SIGCHLD); /* the next turn goes on here */
	return false;
}

/*
 * A process of the tree that traces the root is told of its end in our place, and need not pass it on: there is no
 * SIGCHLD and nothing to wait for. The pidfd tells all the same, and the row has the receipt.
 */
static void on_root(void *arg, uint32_t events)
{
	struct run *run = arg;
	struct sbx_sandbox row;

	(void)events;
	loop_del(run->loop, &run->root);
	reap(run);
	if (!run->root_exited && kern_sandbox_read(run->kern, run->id, &row) == 0 &&
	    row.flags & SBX_ROOT_EXITED)
		root_ended(run, (int)row.root_status);
}

int signals_watch_root(struct run *run, struct err *err)
{
	run->root = (struct loop_source){ .fd = run->child.pidfd, .ready = on_root, .arg = run };
	return loop_add(run->loop, &run->root, EPOLLIN, err);
}

/* Job control: the shell that stopped us gets its terminal back as it was. */
static void suspend(struct run *run)
{
	if (run->state != RUN_RUNNING)
		return;
	cgroup_freeze(run->cgroup, true);
	if (run->terminal)
		terminal_suspend(run->terminal);
	kill(getpid(), SIGSTOP);
	if (run->terminal)
		terminal_resume(run->terminal);
	if (!run->frozen)
		cgroup_freeze(run->cgroup, false);
}

static void forward(struct run *run, int sig)
{
	struct run_cause cause = { .outcome = OUTCOME_STOPPED,
				   .killed_by = KILLED_BY_SIGNAL,
				   .limit = -1,
				   .signal = sig };

	if (run->spec->attach) { /* nobody but `stop` and `kill` ends what was only attached to */
		run_detach(run, NULL);
		return;
	}
	if (run->state != RUN_RUNNING && run->state != RUN_DRAINING && sig != SIGINT &&
	    sig != SIGTERM)
		return;
	if (!run->cause.fixed && nest_ends(run->kern, run->id)) {
		run_end(run, EV_END_GRACE, run_ancestor_ends);
		return;
	}
	if (run->state == RUN_RUNNING)
		run_signal(run, sig, false);
	run_end(run, EV_SIGNAL, cause);
}

static void on_signal(void *arg, uint32_t events)
{
	struct run *run = arg;
	struct signalfd_siginfo info;

	(void)events;
	while (read(run->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGCHLD:
			if (!reap(run))
				return;
			break;
		case SIGWINCH:
			if (run->terminal)
				terminal_resize(run->terminal);
			break;
		case SIGTSTP:
			suspend(run);
			break;
		case SIGCONT: /* from `fg`: the terminal may be ours again */
			if (run->terminal)
				terminal_resume(run->terminal);
			break;
		case SIGUSR1:
		case SIGUSR2:
			run_signal(run, (int)info.ssi_signo, false);
			break;
		default:
			forward(run, (int)info.ssi_signo);
		}
	}
}

void run_suspend(struct run *run)
{
	suspend(run);
}

/* Under nohup, and in the background of a script, the terminal's signals are meant for others. */
static bool left_alone(int sig)
{
	bool terminals = sig == SIGINT || sig == SIGQUIT || sig == SIGHUP || sig == SIGTSTP;
	struct sigaction inherited;

	return terminals && sigaction(sig, NULL, &inherited) == 0 &&
	       inherited.sa_handler == SIG_IGN;
}

int signals_start(struct run *run, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(handled) / sizeof(*handled); i++)
		if (!left_alone(handled[i]))
			sigaddset(&set, handled[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* The caller's `ulimit -f` bounds our files, too: an error, not our end. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would reap the root behind our back */
	/* A write to the terminal from the background must not stop the keeper. */
	signal(SIGTTOU, SIG_IGN);
	/* 50 us by default, which every deadline would pay; the command gets what we were given. */
	run->spawn.timer_slack_ns = (uint64_t)prctl(PR_GET_TIMERSLACK);
	prctl(PR_SET_TIMERSLACK, 1000UL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_set(err, -errno, "become the tree's subreaper");
	run->signals = (struct loop_source){ .ready = on_signal, .arg = run };
	run->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signals.fd < 0)
		return err_set(err, -errno, "signalfd");
	return loop_add(run->loop, &run->signals, EPOLLIN, err);
}

void signals_stop(struct run *run)
{
	loop_del(run->loop, &run->root);
	loop_del(run->loop, &run->signals);
	close_fd(&run->signals.fd);
}
