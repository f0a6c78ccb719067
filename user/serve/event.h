/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event: what `sbxctl events` says, by name. Pure.
 *
 * The names are part of the public contract (174). Events carry numbers, comm and names from closed
 * lists; never argv, environment, output or file content (163). Each is one JSON object with
 * "event", "time" and "id".
 */
#ifndef SERVE_EVENT_H
#define SERVE_EVENT_H

#include <jansson.h>
#include <stdint.h>

#include "run/denied.h"
#include "sbx/kern.h"

enum event_kind {
	EVENT_RUN_STARTED,	/* root_pid */
	EVENT_PROCESS_STARTED,	/* pid, ppid, comm */
	EVENT_PROCESS_EXECED,	/* pid, comm */
	EVENT_PROCESS_EXITED,	/* pid, comm, exit_code */
	EVENT_PROCESS_SIGNALED, /* pid, comm, signal, core_dumped */
	EVENT_DENIED, /* act, object, rule, errno, pid, comm, count, source, hint; once each */
	EVENT_LIMIT_EXCEEDED, /* kind, configured, actual, unit */
	EVENT_INTERNAL_ERROR, /* diagnostic */
	EVENT_RUN_ENDED,      /* outcome, exit_code, signal, killed_by */
	EVENT_DROPPED,	      /* count: this client's, or the kernel ring's; no time or id */
	EVENT__COUNT,
};
extern const char *const event_names[EVENT__COUNT];

/* All return a new reference, NULL when out of memory or when there is nothing to say. */
json_t *event_started(const char *id, const char *time, uint32_t root_pid);
json_t *event_process(const char *id, const char *time, const struct sbx_event *event);
json_t *event_denied(const char *id, const char *time, const struct denied_item *item);
json_t *event_dropped(uint64_t count); /* UINT64_MAX: nobody counted */

/* What a finished run's result (its JSON) has to say, in order: limit_exceeded, internal_error, run_ended. An array. */
json_t *event_from_result(const json_t *result);

#endif
