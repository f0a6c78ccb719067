/* SPDX-License-Identifier: Apache-2.0 */
/* ps: one row a run; every field comes from the keeper (live) or from result.json and meta.json (ended). */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "base/own.h"
#include "print.h"
#include "run/meta.h"
#include "run/sweep.h"
#include "serve/client.h"
#include "usage.h"

#define PS_TIMEOUT_MS 1000 /* a stopped keeper must not hold up the list */

struct listing {
	bool all;
	json_t *rows; /* array of objects with the keys of `row_from_…` */
};

/* Seconds since an RFC 3339 time of ours, as ns; UINT64_MAX when it is none. */
static uint64_t age_ns(const char *started)
{
	struct tm tm = { 0 };
	time_t then, now = time(NULL);

	if (!started || !strptime(started, "%Y-%m-%dT%H:%M:%S", &tm))
		return UINT64_MAX;
	then = timegm(&tm);
	return now > then ? (uint64_t)(now - then) * 1000000000 : 0;
}

static json_t *get(const json_t *object, const char *outer, const char *key)
{
	json_t *value = json_object_get(outer ? json_object_get(object, outer) : object, key);

	return value ? json_incref(value) : json_null();
}

static json_t *command_of(const json_t *argv)
{
	char line[META_ARGV_BYTES + 64];

	if (!json_is_array(argv))
		return json_null();
	meta_command(argv, line, sizeof(line));
	return json_string(line);
}

static json_t *row_from_status(const json_t *status)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
			 get(status, NULL, "id"), "name", get(status, NULL, "name"), "state",
			 get(status, NULL, "state"), "started", get(status, NULL, "started"),
			 "processes", get(status, "tree", "live"), "cpu_ns",
			 get(status, "usage", "cpu_ns"), "memory_peak_bytes",
			 get(status, "usage", "memory_peak_bytes"), "deadline_left_ns",
			 get(status, NULL, "deadline_left_ns"), "command",
			 command_of(json_object_get(status, "command")));
}

static json_t *cpu_of(const json_t *result)
{
	const json_t *usage = json_object_get(result, "usage");
	uint64_t user = print_number(usage, "cpu_user_ns");
	uint64_t system = print_number(usage, "cpu_system_ns");

	if (user == UINT64_MAX || system == UINT64_MAX)
		return json_null();
	return json_integer((json_int_t)(user + system));
}

static json_t *row_from_result(const json_t *result, const json_t *meta)
{
	return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:n, s:o}", "id",
			 get(result, NULL, "id"), "name", get(result, NULL, "name"), "state",
			 "ended", "outcome", get(result, NULL, "outcome"), "exit_code",
			 get(result, NULL, "exit_code"), "signal", get(result, NULL, "signal"),
			 "killed_by", get(result, NULL, "killed_by"), "started",
			 get(result, "times", "started"), "processes",
			 get(result, "tree", "processes"), "cpu_ns", cpu_of(result),
			 "memory_peak_bytes", get(result, "usage", "memory_peak_bytes"),
			 "deadline_left_ns", "command", command_of(json_object_get(meta, "argv")));
}

/* A keeper that does not answer is listed with what meta.json says. */
static json_t *row_of_silent(const json_t *meta, const char *id)
{
	return json_pack("{s:s, s:o, s:s, s:o, s:n, s:n, s:n, s:n, s:o}", "id", id, "name",
			 get(meta, "result", "name"), "state", "silent", "started",
			 get(json_object_get(meta, "result"), "times", "started"), "processes",
			 "cpu_ns", "memory_peak_bytes", "deadline_left_ns", "command",
			 command_of(json_object_get(meta, "argv")));
}

static json_t *ask_status(const struct rundir *d)
{
	const struct request request = { .op = REQUEST_STATUS };
	json_t *reply = NULL, *row = NULL;
	struct client c;

	if (client_open(&c, d, NULL))
		return NULL;
	c.timeout_ms = PS_TIMEOUT_MS;
	if (!client_call(&c, &request, &reply, NULL))
		row = row_from_status(json_object_get(reply, "status"));
	json_decref(reply);
	client_close(&c);
	return row;
}

static int add_run(void *arg, struct rundir *d, enum rundir_state state)
{
	struct listing *l = arg;
	json_t *meta = NULL, *result = NULL, *row = NULL;

	if (state == RUNDIR_LIVE)
		row = ask_status(d);
	/* It may have ended between the look and the question. */
	if (!row && rundir_state(d) == RUNDIR_ENDED && l->all)
		result = rundir_read_json(d, "result.json", NULL);
	if (!row)
		meta = rundir_read_json(d, "meta.json", NULL);
	if (result)
		row = row_from_result(result, meta);
	else if (!row && meta && rundir_state(d) == RUNDIR_LIVE)
		row = row_of_silent(meta, d->id);
	if (row)
		json_array_append_new(l->rows, row);
	json_decref(meta);
	json_decref(result);
	return 0;
}

static const char *string_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

static int newest_first(const void *a, const void *b)
{
	json_t *const *x = a, *const *y = b;

	return strcmp(string_of(*y, "started"), string_of(*x, "started"));
}

static json_t *sorted(json_t *rows)
{
	size_t count = json_array_size(rows), i;
	own_mem json_t **list = calloc(count + 1, sizeof(json_t *));
	json_t *out = json_array(), *row;

	json_array_foreach(rows, i, row)
		if (list)
			list[i] = row;
	if (list)
		qsort(list, count, sizeof(*list), newest_first);
	for (i = 0; list && i < count; i++)
		json_array_append(out, list[i]);
	json_decref(rows);
	return out;
}

/* "running", or of an ended one what is worth knowing: "exited 0", "signaled 9", "limit_exceeded wall". */
static void state_cell(struct table *t, const json_t *row)
{
	const char *outcome = string_of(row, "outcome"), *killed_by = string_of(row, "killed_by");
	uint64_t code = print_number(row, "exit_code"), sig = print_number(row, "signal");

	if (!*outcome)
		table_cell(t, strcmp(string_of(row, "state"), "running") ? PRINT_WARN : PRINT_GOOD,
			   "%s", string_of(row, "state"));
	else if (!strcmp(outcome, "exited"))
		table_cell(t, code ? PRINT_BAD : PRINT_PLAIN, "exited %llu",
			   (unsigned long long)code);
	else if (!strcmp(outcome, "signaled"))
		table_cell(t, PRINT_BAD, "signaled %llu", (unsigned long long)sig);
	else
		table_cell(t, PRINT_BAD, "%s%s%s", outcome, *killed_by ? " " : "", killed_by);
}

static void duration_cell(struct table *t, uint64_t ns)
{
	char text[32];

	print_duration(ns, text, sizeof(text));
	table_cell(t, PRINT_PLAIN, "%s", text);
}

static void add_row(struct table *t, const json_t *row)
{
	uint64_t processes = print_number(row, "processes");
	char size[32];

	table_cell(t, PRINT_PLAIN, "%s", string_of(row, "id"));
	table_cell(t, PRINT_PLAIN, "%s", string_of(row, "name"));
	state_cell(t, row);
	duration_cell(t, age_ns(string_of(row, "started")));
	if (processes == UINT64_MAX)
		table_cell(t, PRINT_PLAIN, "-");
	else
		table_cell(t, PRINT_PLAIN, "%llu", (unsigned long long)processes);
	duration_cell(t, print_number(row, "cpu_ns"));
	print_size(print_number(row, "memory_peak_bytes"), size, sizeof(size));
	table_cell(t, PRINT_PLAIN, "%s", size);
	duration_cell(t, print_number(row, "deadline_left_ns"));
	table_cell(t, PRINT_PLAIN, "%s", string_of(row, "command"));
}

static int print_rows(const json_t *rows, bool color)
{
	static const char *const heads[] = { "ID",  "NAME", "STATE",	"AGE",	  "PROCS",
					     "CPU", "MEM",  "DEADLINE", "COMMAND" };
	struct table t;
	int rc;

	table_init(&t, heads, sizeof(heads) / sizeof(*heads));
	for (size_t i = 0; i < json_array_size(rows); i++)
		add_row(&t, json_array_get(rows, i));
	rc = table_print(&t, stdout, color);
	table_done(&t);
	return rc;
}

static int list_runs(struct listing *l, struct err *err)
{
	int rc = rundir_each(add_run, l);

	if (rc == -EACCES)
		return err_say(err, ERR_PERMISSION, rc,
			       "only root may list runs; `sbxctl inspect ID` shows one of yours");
	return rc ? err_set(err, rc, "list '%s'", rundir_top()) : 0;
}

int cmd_ps(int argc, char **argv)
{
	struct listing l = { 0 };
	struct err err = { 0 };
	struct args a;
	bool color;
	int rc = args_parse(&a, argc, argv, 0, 0);

	if (!rc && print_color_when(args_value(&a, "--color"), stdout, &color, &err))
		rc = usage_refuse_err(argv[0], &err);
	if (rc)
		return rc;
	l.all = args_given(&a, "--all");
	l.rows = json_array();
	sweep_dead();
	rc = list_runs(&l, &err);
	l.rows = sorted(l.rows);
	if (rc)
		rc = print_err(argv[0], &err);
	else if (args_given(&a, "--json"))
		rc = print_json(stdout, l.rows, false);
	else
		rc = print_rows(l.rows, color);
	json_decref(l.rows);
	return rc ? 1 : 0;
}
