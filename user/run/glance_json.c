/* SPDX-License-Identifier: Apache-2.0 */
/* A glance as JSON: null is "there is none", unless "unknown" names it. */
#include <string.h>

#include "run/glance.h"
#include "run/json.h"
#include "run/result.h"
#include "kern/kern.h"

static void put(json_t *out, json_t *unknown, const char *key, uint64_t value)
{
	json_object_set_new(out, key,
			    value >= GLANCE_NONE ? json_null() : json_integer((json_int_t)value));
	if (value == GLANCE_UNKNOWN)
		json_array_append_new(unknown, json_string(key));
}

static json_t *text_of(const char *text)
{
	return text ? json_view(text, strlen(text)) : json_null();
}

static void put_figures(json_t *out, json_t *unknown, const struct glance *g)
{
	put(out, unknown, "age_ns", g->age_ns);
	put(out, unknown, "deadline_left_ns", g->deadline_left_ns);
	put(out, unknown, "processes", g->result ? g->processes_ever : g->processes);
	put(out, unknown, "processes_ever", g->processes_ever);
	put(out, unknown, "threads", g->threads);
	put(out, unknown, "cpu_ns", g->cpu_ns);
	put(out, unknown, "memory_bytes", g->memory_bytes);
	put(out, unknown, "memory_max_bytes", g->memory_max_bytes);
	put(out, unknown, "memory_peak_bytes", g->memory_peak_bytes);
	put(out, unknown, "tasks", g->tasks);
	put(out, unknown, "tasks_max", g->tasks_max);
	put(out, unknown, "read_bytes", g->read_bytes);
	put(out, unknown, "write_bytes", g->write_bytes);
	put(out, unknown, "output_bytes", g->output_bytes);
	put(out, unknown, "denials", g->denials);
	put(out, unknown, "denials_dropped", g->denials_dropped);
	put(out, unknown, "events_dropped", g->events_dropped);
}

static json_t *reduced_json(const struct glance *g)
{
	json_t *list = json_array(), *clause;
	size_t i;

	json_array_foreach(g->clauses, i, clause)
		if (glance_reduced(clause))
			json_array_append(list, json_object_get(clause, "capability"));
	return list;
}

static void put_end(json_t *out, const json_t *result)
{
	static const char *const keys[] = { "outcome", "exit_code", "signal", "killed_by" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		json_object_set(out, keys[i], json_object_get(result, keys[i]));
}

json_t *glance_json(const struct glance *g)
{
	const char tier[] = { g->tier, 0 };
	char started[RESULT_TIME_LEN], parent[SBX_ID_LEN + 1];
	json_t *out = json_object(), *unknown = json_array();

	json_object_set_new(out, "id", json_string(g->id));
	json_object_set_new(out, "name", text_of(g->name));
	json_object_set_new(out, "state", json_string(glance_state_names[g->state]));
	if (g->result)
		put_end(out, g->result);
	kern_id_text(g->parent, parent);
	json_object_set_new(out, "parent", g->parent ? json_string(parent) : json_null());
	json_object_set_new(out, "scope", text_of(g->scope));
	json_object_set_new(out, "owner_uid",
			    g->owner == GLANCE_UID_UNKNOWN ? json_null()
							   : json_integer((json_int_t)g->owner));
	if (g->owner == GLANCE_UID_UNKNOWN)
		json_array_append_new(unknown, json_string("owner_uid"));
	json_object_set_new(out, "tier", g->tier == '?' ? json_null() : json_string(tier));
	if (g->tier == '?')
		json_array_append_new(unknown, json_string("tier"));
	json_object_set_new(out, "reduced", reduced_json(g));
	if (g->started_unix_ns >= 0)
		result_time_text(g->started_unix_ns, started);
	json_object_set_new(out, "started",
			    g->started_unix_ns >= 0 ? json_string(started) : json_null());
	put_figures(out, unknown, g);
	json_object_set_new(out, "command", text_of(g->command));
	json_object_set_new(out, "unknown", unknown);
	return out;
}
