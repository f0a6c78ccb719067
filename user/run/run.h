/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run: one supervised tree from spec to result; the keeper's state machine.
 *
 * Knows no socket and no person: tools/ and serve/ drive it through these calls on the loop's thread.
 * Exactly one end is fixed, once; every later request to end it is a no-op.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "base/loop.h"
#include "policy/spec.h"
#include "run/result.h"
#include "sbx/kern.h"

struct run;
struct rundir;

/* What serve/ and tools/ want to be told; any may be NULL. Called on the loop's thread. */
struct run_watch {
	void *arg;
	void (*started)(void *arg);
	void (*output)(void *arg, int stream, const char *bytes, size_t len); /* stream 1 or 2 */
	void (*process)(void *arg,
			const struct sbx_event *event); /* fork, exec, exit; may be lossy */
	void (*denied)(void *arg, const struct denied_item *item);
	void (*root_exited)(void *arg, int status); /* leftovers linger; as waitpid(2) */
	void (*ended)(void *arg, const struct result *result);
};

/* Plans and checks what the host must do for `spec`; runs nothing. Fills clauses and limits of `out`. */
int run_plan(const struct spec *spec, struct result *out, struct err *err);

/* Borrowed spec and loop must outlive the run. `parent` is the owner unless the spec names one. Nothing is made yet. */
int run_new(struct run **out, const struct spec *spec, struct loop *loop,
	    const struct run_watch *watch, pid_t parent, struct err *err);
/* No longer passes output on: the caller's descriptors may be closed. What is captured is still kept. */
void run_background(struct run *run);
/* Everything up to exec, DESIGN 6. On failure everything made is gone again and *err says why (125, 126 or 127);
 * the result then says could_not_run. */
int run_start(struct run *run, struct err *err);

/* Requests; idempotent; -ESRCH when it has already ended. */
/* TERM, grace (NULL: the spec's), kill: killed_by stop. Again: the grace may get shorter. */
int run_stop(struct run *run, const uint64_t *grace_ns);
int run_terminate(struct run *run); /* kill now: killed_by terminate */
int run_cancel(struct run *run);    /* killed_by cancel */
/* Lets an attached tree go, alive and without label; refused of a launched one. */
int run_detach(struct run *run, struct err *err);
int run_signal(struct run *run, int sig,
	       bool tree); /* to the root's process group, or to every process */
int run_freeze(struct run *run, bool frozen);
int run_update(struct run *run, const struct spec *changes,
	       struct err *err); /* limits only; may only be set, never waived */

/* Signal of which the keeper itself should die, so that shells see what happened; 0: exit with the result's status. */
int run_death_signal(const struct run *run);

/* Whom the command runs as. */
uid_t run_uid(const struct run *run);
gid_t run_gid(const struct run *run);
const char *run_id(const struct run *run);
pid_t run_root_pid(const struct run *run);
const struct spec *run_spec(const struct run *run);
const char *run_dir(const struct run *run); /* runtime directory */
const struct rundir *run_rundir(const struct run *run);
/* Live view for ps and inspect: state, counters, limits, usage, deadline left. New reference. */
json_t *run_status(const struct run *run);
/* {list: [{sandbox, pid, ppid, comm, state, threads, cpu_ns, start_ns, root}], dropped}: who lives in it and in
 * sandboxes inside, at most `most` of them. New reference. */
json_t *run_processes(const struct run *run, size_t most);
/* What policy has refused so far; valid until the next call. */
const struct denied *run_denied(struct run *run);
/* Copies captured bytes of stream 1 or 2 from *offset on; the number copied, 0 when there are no more yet. *offset
 * moves to where the copied bytes start: bytes that are not kept any more are skipped. */
ssize_t run_output_read(const struct run *run, int stream, uint64_t *offset, char *buf,
			size_t size);
/* Delivers the process events that wait in the ring now; by itself it is read when a quarter is full. */
void run_poll_events(struct run *run);
/* Valid once `ended` was called. */
const struct result *run_result(const struct run *run);

void run_free(struct run *run); /* a live run is terminated first */

#endif
