/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.
 *
 * A keeper is one process with one loop and one struct run. run_start (launch.c) makes the tree in
 * the order of contract 52 and fills the loop with sources: the root's death and adopted orphans
 * (SIGCHLD), the pipes, the ring of process events, the owner's pidfd, the memory group's events, and
 * one timer for each limit that was asked for. Whatever happens becomes a run_event; steps.c says
 * which state follows; end.c does what the state is for. Why it ends is fixed by whoever calls
 * run_end first. finish.c writes the result, then run_release takes back what launch.c made.
 *
 * The kernel half keeps the truth about the tree (who is in it, how many live, what the root's exit was);
 * nothing here depends on an event having arrived.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "policy/spec_environ.h"
#include "run/attach.h"
#include "run/rest.h"
#include "run/state.h"
#include "run/sweep.h"

#define REST_NS 100000000ULL /* a command that still runs then is no short one */

static int make_argv(struct run *run)
{
	const struct spec *spec = run->spec;
	size_t extra = spec->shell ? 3 : 0;

	run->argv = calloc(spec->argc + extra + 1, sizeof(char *));
	if (!run->argv)
		return -ENOMEM;
	if (spec->shell) {
		run->argv[0] = (char *)"sh";
		run->argv[1] = (char *)"-c";
		run->argv[2] = spec->shell;
	}
	for (size_t i = 0; i < spec->argc; i++)
		run->argv[extra + i] = spec->argv[i];
	return 0;
}

static void on_rest(void *arg)
{
	(void)arg;
	rest();
}

int run_new(struct run **out, const struct spec *spec, struct loop *loop,
	    const struct run_watch *watch, pid_t parent, struct err *err)
{
	struct run *run = calloc(1, sizeof(*run));
	struct timespec now;

	if (!run)
		return err_set(err, -ENOMEM, "run");
	run->spec = spec;
	run->loop = loop;
	if (watch)
		run->watch = *watch;
	memcpy(run->limits, spec->limits, sizeof(run->limits));
	run->dir.fd = run->child.pidfd = run->child.go_fd = run->child.fault_fd = run->signals.fd =
		-1;
	run->child.pid = run->watcher.pid = -1;
	run->pidns = (struct pidns)PIDNS_NONE;
	run->watcher.pidfd = run->watcher.control_fd = run->backstop = -1;
	run->child_fds[0] = run->child_fds[1] = run->child_fds[2] = -1;
	run->confinement.report = -1;
	run->network.names.resolver = (struct resolver)RESOLVER_NONE;
	run->keeper_out = 1;
	run->keeper_err = 2;
	run->parent = parent;
	run->grace_ns = spec->kill_after_ns;
	deadline_init(run);
	end_timers_init(run);
	run->rest = (struct loop_timer){ .fire = on_rest };
	result_init(&run->result);
	run->result.spec = spec;
	run->result.killed = RESULT_NONE;
	clock_gettime(CLOCK_REALTIME, &now);
	run->result.started_unix_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	run->id = kern_id_new();
	kern_id_text(run->id, run->id_text);
	memcpy(run->result.id, run->id_text, sizeof(run->id_text));
	if (make_argv(run) < 0 || spec_digest(spec, run->result.spec_digest, err) < 0) {
		run_free(run);
		return err_set(err, -ENOMEM, "run");
	}
	*out = run;
	return 0;
}

static void failed(struct run *run, const struct err *err)
{
	run->result.outcome = OUTCOME_COULD_NOT_RUN;
	run->result.exit_code = -1;
	run->result.launch_errno = err->category == ERR_COULD_NOT_RUN ? -err->code : 0;
	result_diagnostic(&run->result, UINT64_MAX, "%s", err->text);
	run->started_ns = run->started_ns ? run->started_ns : clock_boot_ns();
	run->result.wall_ns = 0;
	run->result.ended_unix_ns = run->result.started_unix_ns;
}

int run_start(struct run *run, struct err *err)
{
	int rc = signals_start(run, err);

	if (rc == 0)
		rc = run->spec->attach ? attach_start(run, err) : run_launch(run, err);
	if (rc < 0) {
		failed(run, err);
		if (!run->spec->attach)
			run_kill(run);
		spawn_abort(&run->child);
		run_release(run);
		rundir_remove(&run->dir);
		return rc;
	}
	for (int i = 0; i < 3; i++)
		close_fd(&run->child_fds[i]);
	run->state = RUN_RUNNING;
	if (run->terminal)
		terminal_start(run->terminal, NULL);
	deadline_arm(run);
	loop_timer_arm(run->loop, &run->rest, run->started_ns + REST_NS);
	if (run->watch.started)
		run->watch.started(run->watch.arg);
	return 0;
}

static int request(struct run *run, enum run_event how, enum outcome outcome,
		   enum killed_by killed_by)
{
	struct run_cause cause = { .outcome = outcome, .killed_by = killed_by, .limit = -1 };

	if (!run_endable(run))
		return -ESRCH;
	run_end(run, how, cause);
	return 0;
}

int run_stop(struct run *run, const uint64_t *grace_ns)
{
	if (grace_ns && run_endable(run))
		end_grace(run, *grace_ns);
	return request(run, EV_END_GRACE, OUTCOME_STOPPED, KILLED_BY_STOP);
}

int run_terminate(struct run *run)
{
	return request(run, EV_END_NOW, OUTCOME_STOPPED, KILLED_BY_TERMINATE);
}

int run_cancel(struct run *run)
{
	return request(run, EV_END_NOW, OUTCOME_CANCELLED, KILLED_BY_CANCEL);
}

int run_detach(struct run *run, struct err *err)
{
	struct run_cause cause = { .outcome = OUTCOME_DETACHED, .limit = -1 };

	if (!run->spec->attach)
		return err_say(err, ERR_VALIDATION, -EINVAL,
			       "the run was started, not attached to: nothing else supervises it");
	if (run->state < RUN_RUNNING || run->state >= RUN_KILLING)
		return err_say(err, ERR_NOT_FOUND, -ESRCH, "the run has already ended");
	if (run->frozen)
		run_freeze(run, false);
	run_end(run, EV_DETACH, cause);
	return 0;
}

int run_signal(struct run *run, int sig, bool tree)
{
	if (run->state < RUN_RUNNING || run->state >= RUN_DRAINING)
		return -ESRCH;
	if (tree)
		return kern_signal_tree(run->kern, run->id, sig);
	if (run->spec->attach)
		return syscall(SYS_pidfd_send_signal, run->child.pidfd, sig, NULL, 0) ? -errno : 0;
	if (run->child.pid <= 0)
		return -ESRCH;
	/* The root led its own group from before the exec; it may have joined another since. */
	if (kill(-run->child.pid, sig) < 0 &&
	    syscall(SYS_pidfd_send_signal, run->child.pidfd, sig, NULL, 0) < 0)
		return -errno;
	return 0;
}

int run_freeze(struct run *run, bool frozen)
{
	int rc;

	if (run->state < RUN_RUNNING || run->state >= RUN_KILLING)
		return -ESRCH;
	rc = run->spec->attach ? attach_freeze(run, frozen) : cgroup_freeze(run->cgroup, frozen);
	if (rc == 0)
		run->frozen = frozen;
	return rc;
}

/* What the kernel fixed with the exec or the row, and what only a mount could change. */
static bool fixed_at_start(enum limit_id id)
{
	return id == LIMIT_MAX_FILE || id == LIMIT_NOFILE || id == LIMIT_DISK ||
	       id == LIMIT_EXECS || id == LIMIT_DEPTH;
}

int run_update(struct run *run, const struct spec *changes, struct err *err)
{
	struct cgroup_limits limits = CGROUP_NO_LIMITS;
	const struct spec_limit *c = changes->limits;
	int rc;

	if (run->state != RUN_RUNNING && run->state != RUN_LINGERING)
		return err_say(err, ERR_NOT_FOUND, -ESRCH, "the run has ended");
	for (int i = 0; i < LIMIT__COUNT; i++)
		if (c[i].origin == ORIGIN_WAIVED ||
		    (limit_in_force(&c[i]) && fixed_at_start((enum limit_id)i)))
			return err_say(err, ERR_VALIDATION, -EINVAL,
				       "%s cannot be changed on a live run", limit_table[i].option);
	if (limit_in_force(&c[LIMIT_MEMORY]))
		limits.memory_bytes = c[LIMIT_MEMORY].value;
	if (limit_in_force(&c[LIMIT_SWAP]))
		limits.swap_bytes = c[LIMIT_SWAP].value;
	if (limit_in_force(&c[LIMIT_PIDS]))
		limits.pids = c[LIMIT_PIDS].value;
	if (limit_in_force(&c[LIMIT_CPUS]))
		limits.cpu_millicores = c[LIMIT_CPUS].value;
	rc = cgroup_update(run->cgroup, &limits, err);
	if (rc < 0)
		return rc;
	for (int i = 0; i < LIMIT__COUNT; i++)
		if (limit_in_force(&c[i]))
			run->limits[i] = c[i];
	if (limit_in_force(&run->limits[LIMIT_OUTPUT]))
		run->capture.limit = run->limits[LIMIT_OUTPUT].value;
	rc = launch_watcher(run, err);
	deadline_arm(run); /* the timer of whoever watches, too */
	return rc;
}

void run_background(struct run *run)
{
	capture_drop_sinks(&run->capture);
	run->keeper_out = run->keeper_err = -1;
}

/*
 * A shell stops its loop, make and xargs stop their work, only when the command was seen to die of the
 * interrupt. A root that ended of a forwarded TERM or HUP by itself is reported by its status.
 */
int run_death_signal(const struct run *run)
{
	const struct result *r = &run->result;
	int sig = run->cause.fixed ? run->cause.signal : 0;

	if (run->cut)
		return sig;
	if (!sig || r->exit_code >= 0)
		return 0;
	return sig == SIGINT || sig == SIGQUIT || r->signal != sig ? sig : 0;
}

uid_t run_uid(const struct run *run)
{
	return run->switch_user ? run->user.uid : geteuid();
}

gid_t run_gid(const struct run *run)
{
	return run->switch_user ? run->user.gid : getegid();
}

const char *run_id(const struct run *run)
{
	return run->id_text;
}

pid_t run_root_pid(const struct run *run)
{
	return run->spec->attach && !run->root_exited ? run->spec->attach : run->child.pid;
}

const struct spec *run_spec(const struct run *run)
{
	return run->spec;
}

const char *run_dir(const struct run *run)
{
	return run->dir.path;
}

const struct rundir *run_rundir(const struct run *run)
{
	return &run->dir;
}

ssize_t run_output_read(const struct run *run, int stream, uint64_t *offset, char *buf, size_t size)
{
	return store_read(&run->capture.streams[stream - 1].store, offset, buf, size);
}

void run_poll_events(struct run *run)
{
	if (run->events)
		events_consume(run->events, 0);
	confinement_tell(run);
}

const struct result *run_result(const struct run *run)
{
	return &run->result;
}

void run_free(struct run *run)
{
	if (!run)
		return;
	if (run->state >= RUN_RUNNING && run->state < RUN_ENDED) {
		run_terminate(run);
		while (run->state != RUN_ENDED && loop_step(run->loop, NULL) == 0)
			;
	}
	rundir_close(&run->dir);
	if (run->dir.tidy_due && run->state == RUN_ENDED) {
		sweep_dead();
		rundir_prune();
	}
	tree_done(&run->tree);
	result_done(&run->result);
	if (run->environ_vector)
		spec_environ_free(run->environ_vector);
	free(run->argv);
	free(run);
}
