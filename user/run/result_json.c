/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON form of a result. Every key is always there; what was not measured is null. json_pack takes
 * over the references it is given and fails on a NULL one, so running out of memory anywhere is NULL.
 */
#include "run/result.h"

#include <string.h>

#include "run/json.h"

#define RESULT_SCHEMA 1

static json_t *text(const char *string)
{
	return json_view(string, strlen(string));
}

static json_t *text_or_null(const char *string)
{
	return string && string[0] ? text(string) : json_null();
}

static json_t *number(uint64_t value)
{
	return value > INT64_MAX ? json_null() : json_integer((json_int_t)value);
}

static json_t *code(int value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *when(int64_t unix_ns)
{
	char buf[RESULT_TIME_LEN];

	if (unix_ns < 0)
		return json_null();
	result_time_text(unix_ns, buf);
	return json_string(buf);
}

/* Appends and drops the array when that fails. */
static json_t *append(json_t *array, json_t *item)
{
	if (!array || !json_array_append_new(array, item))
		return array;
	json_decref(array);
	return NULL;
}

static json_t *labels_json(const struct spec *spec)
{
	json_t *labels = json_object();

	for (size_t i = 0; labels && spec && i < spec->label_count; i++) {
		const struct spec_pair *pair = &spec->labels[i];

		if (json_object_set_new(labels, pair->name, text(pair->value ? pair->value : ""))) {
			json_decref(labels);
			return NULL;
		}
	}
	return labels;
}

/* Output may be over without a limit: when its spill has no room. */
static json_t *limit_json(const struct result *r)
{
	const struct spec_limit *asked = &r->limits[r->limit < 0 ? 0 : r->limit].asked;

	if (r->limit < 0)
		return json_null();
	return json_pack("{s:s, s:o, s:o, s:s}", "kind", limit_table[r->limit].name, "configured",
			 number(limit_in_force(asked) ? asked->value : RESULT_NONE), "actual",
			 number(r->limit_actual), "unit", limit_table[r->limit].unit);
}

static json_t *limits_hit_json(const struct result *r)
{
	json_t *hits = json_array();

	for (size_t i = 0; i < r->limits_hit_count; i++)
		hits = append(hits, json_pack("{s:o, s:o}", "kind", text(r->limits_hit[i].kind),
					      "count", number(r->limits_hit[i].count)));
	return hits;
}

static json_t *times_json(const struct result *r)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "started", when(r->started_unix_ns), "ended",
			 when(r->ended_unix_ns), "wall_ns", number(r->wall_ns), "deadline_ns",
			 number(r->deadline_ns), "overrun_ns", number(r->overrun_ns));
}

static json_t *usage_json(const struct result *r)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "cpu_user_ns", number(r->cpu_user_ns),
			 "cpu_system_ns", number(r->cpu_system_ns), "memory_peak_bytes",
			 number(r->memory_peak_bytes), "tasks_peak", number(r->tasks_peak),
			 "read_bytes", number(r->read_bytes), "write_bytes",
			 number(r->write_bytes));
}

static json_t *record_json(const struct process_record *p)
{
	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "pid", (int)p->pid, "ppid",
			 (int)p->ppid, "comm",
			 json_view(p->comm, strnlen(p->comm, sizeof(p->comm))), "exit_code",
			 code(p->exit_code), "signal", code(p->signal), "started_ns",
			 number(p->started_ns), "ended_ns", number(p->ended_ns));
}

static json_t *tree_json(const struct result *r)
{
	json_t *records = json_array();

	for (size_t i = 0; i < r->record_count; i++)
		records = append(records, record_json(&r->records[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "processes", number(r->processes),
			 "peak", number(r->peak), "killed", number(r->killed), "survivors",
			 number(r->survivors), "cgroup_escapes", number(r->cgroup_escapes),
			 "records", records, "records_dropped", number(r->records_dropped));
}

static json_t *autopsy_json(const struct result *r)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < r->autopsy_count; i++) {
		const struct autopsy_row *a = &r->autopsy[i];
		const char state[2] = { a->state, 0 };

		rows = append(rows, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "pid",
					      (int)a->pid, "comm",
					      json_view(a->comm, strnlen(a->comm, sizeof(a->comm))),
					      "state", text_or_null(state), "wchan",
					      text_or_null(a->wchan), "cpu_ns", number(a->cpu_ns),
					      "last_output_ns", number(a->last_output_ns),
					      "waits_for", text_or_null(a->waits_for)));
	}
	return rows;
}

static json_t *output_json(const struct output_record *out)
{
	json_t *string = out->text    ? json_view(out->text, out->text_len)
			 : out->bytes ? json_null()
				      : json_string("");

	return json_pack("{s:o, s:o, s:b, s:b, s:o}", "bytes", number(out->bytes), "text", string,
			 "truncated", out->truncated, "lossy", out->lossy, "spill",
			 text_or_null(out->spill));
}

static json_t *origin_json(const struct spec_limit *asked)
{
	switch (asked->origin) {
	case ORIGIN_EXPLICIT:
		return json_string("explicit");
	case ORIGIN_PROFILE:
		return json_sprintf("profile:%s", asked->origin_name);
	case ORIGIN_PRESET:
		return json_sprintf("preset:%s", asked->origin_name);
	case ORIGIN_INHERITED:
		return json_string("inherited");
	case ORIGIN_UNSET:
	case ORIGIN_WAIVED:
		break;
	}
	return json_string("waived");
}

static json_t *limits_json(const struct result *r)
{
	json_t *limits = json_object();

	for (int i = 0; limits && i < LIMIT__COUNT; i++) {
		const struct result_limit *l = &r->limits[i];
		bool waived = l->asked.origin == ORIGIN_UNSET || l->asked.origin == ORIGIN_WAIVED;
		json_t *force =
			l->still_in_force < 0 ? json_null() : json_boolean(l->still_in_force);

		if (json_object_set_new(limits, limit_table[i].name,
					json_pack("{s:o, s:s, s:o, s:o}", "value",
						  number(waived ? RESULT_NONE : l->asked.value),
						  "unit", limit_table[i].unit, "origin",
						  origin_json(&l->asked), "still_in_force",
						  force))) {
			json_decref(limits);
			return NULL;
		}
	}
	return limits;
}

json_t *result_clauses_json(const struct result *r)
{
	json_t *clauses = json_array();

	for (size_t i = 0; i < r->clause_count; i++) {
		const struct tier_clause *c = &r->clauses[i];

		clauses = append(clauses,
				 json_pack("{s:o, s:o, s:b, s:b, s:b, s:o}", "capability",
					   text(c->capability), "mechanism", text(c->mechanism),
					   "listed", c->listed, "attempted", c->attempted,
					   "enforced", c->enforced, "detail", text(c->detail)));
	}
	return clauses;
}

static json_t *tier_json(const struct result *r)
{
	return json_pack("{s:o, s:o}", "sentence", text(r->tier_sentence), "clauses",
			 result_clauses_json(r));
}

static json_t *launch_json(const struct result *r)
{
	if (r->outcome == OUTCOME_COULD_NOT_RUN || r->attach.pid)
		return json_null();
	return json_string(r->launched_by_path ? "path" : "inode");
}

json_t *result_json(const struct result *r)
{
	json_t *head =
		json_pack("{s:i, s:o, s:o, s:o, s:n, s:o, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o}",
			  "schema", RESULT_SCHEMA, "id", text_or_null(r->id), "name",
			  text_or_null(r->spec ? r->spec->name : NULL), "labels",
			  labels_json(r->spec), "scope", "launch", launch_json(r), "outcome",
			  outcome_name(r->outcome), "exit_code", code(r->exit_code), "signal",
			  code(r->signal), "core_dumped", r->core_dumped, "killed_by",
			  text_or_null(killed_by_name(r->killed_by)), "limit", limit_json(r),
			  "limits_hit", limits_hit_json(r), "diagnostic", text(r->diagnostic));
	json_t *body =
		json_pack("{s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:o}", "times",
			  times_json(r), "usage", usage_json(r), "tree", tree_json(r), "autopsy",
			  autopsy_json(r), "output", "stdout", output_json(&r->out), "stderr",
			  output_json(&r->err_), "denials", denied_json(&r->denied, SIZE_MAX),
			  "limits", limits_json(r), "tier", tier_json(r), "spec_digest",
			  text_or_null(r->spec_digest), "attached", attached_json(&r->attach));

	if (!head || !body || json_object_update(head, body)) {
		json_decref(head);
		head = NULL;
	}
	json_decref(body);
	return head;
}
