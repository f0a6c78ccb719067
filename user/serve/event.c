/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/event.h"

#include <string.h>
#include <sys/wait.h>

#include "base/own.h"
#include "base/text.h"

const char *const event_names[EVENT__COUNT] = {
	[EVENT_RUN_STARTED] = "run_started",
	[EVENT_PROCESS_STARTED] = "process_started",
	[EVENT_PROCESS_EXECED] = "process_execed",
	[EVENT_PROCESS_EXITED] = "process_exited",
	[EVENT_PROCESS_SIGNALED] = "process_signaled",
	[EVENT_DENIED] = "denied",
	[EVENT_LIMIT_EXCEEDED] = "limit_exceeded",
	[EVENT_INTERNAL_ERROR] = "internal_error",
	[EVENT_RUN_ENDED] = "run_ended",
	[EVENT_DROPPED] = "dropped",
};

static json_t *head(enum event_kind kind, const char *id, const char *time)
{
	return json_pack("{s:s, s:s?, s:s?}", "event", event_names[kind], "time", time, "id", id);
}

/* Takes over `details`. */
static json_t *with(json_t *event, json_t *details)
{
	if (!event || !details || json_object_update(event, details)) {
		json_decref(event);
		event = NULL;
	}
	json_decref(details);
	return event;
}

json_t *event_started(const char *id, const char *time, uint32_t root_pid)
{
	return with(head(EVENT_RUN_STARTED, id, time),
		    json_pack("{s:i}", "root_pid", (int)root_pid));
}

/* A name may be any bytes (prctl); it reads as in the result. */
static json_t *comm_of(const struct sbx_event *e)
{
	size_t len = 0;
	bool lossy;
	own_str utf8 = text_to_utf8(e->comm, strnlen(e->comm, sizeof(e->comm)), &len, &lossy);
	json_t *comm = utf8 ? json_stringn(utf8, len) : NULL;

	return comm ? comm : json_null();
}

static json_t *event_exit(const char *id, const char *time, const struct sbx_event *e)
{
	int status = (int)e->status;

	if (WIFSIGNALED(status))
		return with(head(EVENT_PROCESS_SIGNALED, id, time),
			    json_pack("{s:i, s:o, s:i, s:b}", "pid", (int)e->pid, "comm",
				      comm_of(e), "signal", WTERMSIG(status), "core_dumped",
				      !!WCOREDUMP(status)));
	return with(head(EVENT_PROCESS_EXITED, id, time),
		    json_pack("{s:i, s:o, s:i}", "pid", (int)e->pid, "comm", comm_of(e),
			      "exit_code", WEXITSTATUS(status)));
}

json_t *event_process(const char *id, const char *time, const struct sbx_event *e)
{
	switch (e->kind) {
	case SBX_EVENT_FORK:
		return with(head(EVENT_PROCESS_STARTED, id, time),
			    json_pack("{s:i, s:i, s:o}", "pid", (int)e->pid, "ppid", (int)e->ppid,
				      "comm", comm_of(e)));
	case SBX_EVENT_EXEC:
		return with(head(EVENT_PROCESS_EXECED, id, time),
			    json_pack("{s:i, s:o}", "pid", (int)e->pid, "comm", comm_of(e)));
	case SBX_EVENT_EXIT:
		return event_exit(id, time, e);
	default:
		return NULL;
	}
}

json_t *event_denied(const char *id, const char *time, const struct denied_item *item)
{
	return with(head(EVENT_DENIED, id, time), denied_item_json(item));
}

json_t *event_dropped(uint64_t count)
{
	return json_pack("{s:s, s:o}", "event", event_names[EVENT_DROPPED], "count",
			 count > INT64_MAX ? json_null() : json_integer((json_int_t)count));
}

/* Appends head and the named keys of `from`. */
static void add(json_t *events, enum event_kind kind, const json_t *result, const json_t *from,
		const char *const *keys)
{
	const json_t *times = json_object_get(result, "times");
	json_t *event = head(kind, json_string_value(json_object_get(result, "id")),
			     json_string_value(json_object_get(times, "ended")));

	for (; event && *keys; keys++)
		json_object_set(event, *keys, json_object_get(from, *keys));
	json_array_append_new(events, event);
}

json_t *event_from_result(const json_t *result)
{
	static const char *const limit_keys[] = { "kind", "configured", "actual", "unit", NULL };
	static const char *const error_keys[] = { "diagnostic", NULL };
	static const char *const end_keys[] = { "outcome", "exit_code", "signal", "killed_by",
						NULL };
	const char *outcome = json_string_value(json_object_get(result, "outcome"));
	const json_t *limit = json_object_get(result, "limit");
	json_t *events = json_array();

	if (!events || !outcome)
		return events;
	if (json_is_object(limit))
		add(events, EVENT_LIMIT_EXCEEDED, result, limit, limit_keys);
	if (!strcmp(outcome, "internal_error"))
		add(events, EVENT_INTERNAL_ERROR, result, result, error_keys);
	add(events, EVENT_RUN_ENDED, result, result, end_keys);
	return events;
}
