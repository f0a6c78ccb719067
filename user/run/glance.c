/* SPDX-License-Identifier: Apache-2.0 */
#include "run/glance.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kern/kern.h"
#include "run/meta.h"
#include "run/result.h"

const char *const glance_state_names[GLANCE__STATES] = {
	[GLANCE_STATE_UNKNOWN] = "unknown", [GLANCE_STARTING] = "preparing",
	[GLANCE_RUNNING] = "running",	    [GLANCE_LINGERING] = "lingering",
	[GLANCE_FROZEN] = "frozen",	    [GLANCE_STOPPING] = "stopping",
	[GLANCE_KILLING] = "killing",	    [GLANCE_DRAINING] = "draining",
	[GLANCE_SILENT] = "silent",	    [GLANCE_ORPHAN] = "orphan",
	[GLANCE_ENDED] = "ended",
};

void glance_forget(struct glance *g)
{
	uint64_t *const figures[] = {
		&g->age_ns,  &g->deadline_left_ns, &g->processes,      &g->processes_ever,
		&g->threads, &g->cpu_ns,	   &g->memory_bytes,   &g->memory_peak_bytes,
		&g->tasks,   &g->read_bytes,	   &g->write_bytes,    &g->output_bytes,
		&g->denials, &g->denials_dropped,  &g->events_dropped,
	};

	g->state = GLANCE_STATE_UNKNOWN;
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		*figures[i] = GLANCE_UNKNOWN;
}

void glance_init(struct glance *g, const char *id)
{
	*g = (struct glance){
		.owner = GLANCE_UID_UNKNOWN,
		.tier = '?',
		.started_unix_ns = -1,
		.wall_limit_ns = GLANCE_UNKNOWN,
		.memory_max_bytes = GLANCE_UNKNOWN,
		.tasks_max = GLANCE_UNKNOWN,
	};
	glance_forget(g);
	strncpy(g->id, id, sizeof(g->id) - 1);
	kern_id_parse(id, &g->number);
}

void glance_done(struct glance *g)
{
	free(g->name);
	free(g->command);
	free(g->scope);
	json_decref(g->clauses);
	json_decref(g->limits);
	json_decref(g->result);
	*g = (struct glance){ 0 };
}

/* ---- JSON ---- */

static uint64_t number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : GLANCE_UNKNOWN;
}

/* Only what was told replaces what is known. */
static void take_number(uint64_t *to, const json_t *object, const char *key)
{
	uint64_t value = number_of(object, key);

	if (value != GLANCE_UNKNOWN)
		*to = value;
}

static void take_text(char **to, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text || (*to && !strcmp(*to, text)))
		return;
	free(*to);
	*to = strdup(text);
}

static void take_json(json_t **to, json_t *value)
{
	if (!value)
		return;
	json_decref(*to);
	*to = json_incref(value);
}

static void take_command(struct glance *g, const json_t *argv)
{
	char line[META_ARGV_BYTES + 64];

	if (g->command || !json_is_array(argv))
		return;
	meta_command(argv, line, sizeof(line));
	g->command = strdup(line);
}

/* "2026-12-01T12:11:16.069978695Z", as result_time_text writes it. */
static void take_time(int64_t *to, const char *text)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	if (!rest)
		return;
	*to = (int64_t)timegm(&tm) * 1000000000;
	if (*rest == '.')
		*to += (int64_t)(strtod(rest, NULL) * 1e9);
}

static void take_uid(uid_t *to, const json_t *value)
{
	if (json_is_integer(value))
		*to = (uid_t)json_integer_value(value);
}

/* ---- the tier ---- */

static bool is_lsm(const json_t *clause)
{
	const char *name = json_string_value(json_object_get(clause, "capability"));

	return name && !strcmp(name, "lsm_enforcement");
}

static bool is_true(const json_t *clause, const char *key)
{
	return json_is_true(json_object_get(clause, key));
}

bool glance_reduced(const json_t *clause)
{
	return !is_lsm(clause) && is_true(clause, "listed") && is_true(clause, "attempted") &&
	       !is_true(clause, "enforced");
}

static void take_clauses(struct glance *g, json_t *clauses)
{
	json_t *clause;
	size_t i;

	if (!json_is_array(clauses))
		return;
	take_json(&g->clauses, clauses);
	g->reduced = 0;
	json_array_foreach(clauses, i, clause) {
		if (is_lsm(clause))
			g->tier = is_true(clause, "enforced") ? 'A' : 'B';
		g->reduced += glance_reduced(clause);
	}
}

/* A limit's value, GLANCE_NONE when it is waived. */
static void take_limit(uint64_t *to, const json_t *limits, const char *name)
{
	const json_t *limit = json_object_get(limits, name);
	uint64_t value = number_of(limit, "value");

	*to = value == GLANCE_UNKNOWN ? GLANCE_NONE : value;
}

static void take_limits(struct glance *g, json_t *limits)
{
	if (!json_is_object(limits))
		return;
	take_json(&g->limits, limits);
	take_limit(&g->wall_limit_ns, limits, "wall");
	take_limit(&g->memory_max_bytes, limits, "memory");
	take_limit(&g->tasks_max, limits, "pids");
}

/* ---- sources ---- */

void glance_meta(struct glance *g, const json_t *meta)
{
	json_t *launch = json_object_get(meta, "result");
	const json_t *tier = json_object_get(launch, "tier");
	uint64_t keeper = number_of(meta, "keeper_pid"), root = number_of(meta, "root_pid");

	take_text(&g->name, launch, "name");
	take_text(&g->scope, launch, "scope");
	take_command(g, json_object_get(meta, "argv"));
	take_uid(&g->owner, json_object_get(json_object_get(meta, "reader"), "uid"));
	take_clauses(g, json_object_get(tier, "clauses"));
	take_limits(g, json_object_get(launch, "limits"));
	take_time(&g->started_unix_ns,
		  json_string_value(json_object_get(json_object_get(launch, "times"), "started")));
	if (keeper != GLANCE_UNKNOWN)
		g->keeper_pid = (uint32_t)keeper;
	if (root != GLANCE_UNKNOWN && !g->root_pid)
		g->root_pid = (uint32_t)root;
}

static enum glance_state state_of(const struct sbx_sandbox *row)
{
	if (row->flags & SBX_DYING)
		return row->live ? GLANCE_KILLING : GLANCE_DRAINING;
	if (!row->root_pid)
		return GLANCE_STARTING;
	if (!(row->flags & SBX_ROOT_EXITED))
		return GLANCE_RUNNING;
	return row->live ? GLANCE_LINGERING : GLANCE_DRAINING;
}

void glance_row(struct glance *g, const struct sbx_sandbox *row, uint64_t boot_ns)
{
	g->number = row->id;
	g->parent = row->parent;
	g->state = state_of(row);
	g->age_ns = boot_ns > row->created_ns ? boot_ns - row->created_ns : 0;
	g->processes = row->live_processes;
	g->processes_ever = row->processes;
	g->threads = row->live;
	g->denials = row->denials;
	g->denials_dropped = row->denials_dropped;
	g->events_dropped = row->events_dropped;
	g->root_pid = row->root_pid;
}

static void take_figure(uint64_t *to, uint64_t figure)
{
	*to = figure == CGROUP_VIEW_NO_LIMIT ? GLANCE_NONE : figure;
}

void glance_groups(struct glance *g, const struct cgroup_figures *f)
{
	take_figure(&g->memory_bytes, f->memory_bytes);
	take_figure(&g->tasks, f->tasks);
	take_figure(&g->cpu_ns, f->cpu_ns);
	take_figure(&g->read_bytes, f->read_bytes);
	take_figure(&g->write_bytes, f->write_bytes);
	/* Where the group has no such file nobody limits, or v1 does and nobody recorded it. */
	if (f->memory_max_bytes != CGROUP_VIEW_UNKNOWN)
		take_figure(&g->memory_max_bytes, f->memory_max_bytes);
	if (f->tasks_max != CGROUP_VIEW_UNKNOWN)
		take_figure(&g->tasks_max, f->tasks_max);
	if (f->frozen && g->state == GLANCE_RUNNING)
		g->state = GLANCE_FROZEN;
}

/* The keeper knows of a grace; that the tree is dying the kernel half knows first. */
static void take_state(struct glance *g, const json_t *status)
{
	const char *state = json_string_value(json_object_get(status, "state"));

	for (int i = 0; state && i < GLANCE__STATES; i++)
		if (!strcmp(state, glance_state_names[i]) && g->state != GLANCE_KILLING &&
		    g->state != GLANCE_DRAINING)
			g->state = (enum glance_state)i;
}

static void take_output(struct glance *g, const json_t *output)
{
	uint64_t out = number_of(output, "stdout"), err = number_of(output, "stderr");

	if (out != GLANCE_UNKNOWN && err != GLANCE_UNKNOWN)
		g->output_bytes = out + err;
}

void glance_status(struct glance *g, const json_t *status)
{
	json_t *tree = json_object_get(status, "tree"), *usage = json_object_get(status, "usage");
	json_t *denials = json_object_get(status, "denials");
	uint64_t left = number_of(status, "deadline_left_ns");

	take_text(&g->name, status, "name");
	take_text(&g->scope, status, "scope");
	take_command(g, json_object_get(status, "command"));
	take_uid(&g->owner, json_object_get(status, "owner_uid"));
	take_clauses(g, json_object_get(status, "clauses"));
	take_limits(g, json_object_get(status, "limits"));
	take_time(&g->started_unix_ns, json_string_value(json_object_get(status, "started")));
	take_state(g, status);
	if (g->age_ns ==
	    GLANCE_UNKNOWN) /* the row's is of now, the keeper's as old as its answer */
		take_number(&g->age_ns, status, "wall_ns");
	g->deadline_left_ns = left == GLANCE_UNKNOWN ? GLANCE_NONE : left;
	take_number(&g->processes, tree, "live");
	take_number(&g->processes_ever, tree, "processes");
	take_number(&g->threads, tree, "threads");
	take_number(&g->cpu_ns, usage, "cpu_ns");
	take_number(&g->memory_bytes, usage, "memory_bytes");
	take_number(&g->memory_peak_bytes, usage, "memory_peak_bytes");
	take_number(&g->tasks, usage, "tasks");
	take_number(&g->read_bytes, usage, "read_bytes");
	take_number(&g->write_bytes, usage, "write_bytes");
	take_number(&g->denials, denials, "total");
	take_number(&g->denials_dropped, denials, "dropped");
	take_number(&g->events_dropped, status, "events_dropped");
	take_output(g, json_object_get(status, "output"));
}

void glance_result(struct glance *g, const json_t *result)
{
	const json_t *usage = json_object_get(result, "usage");
	uint64_t user = number_of(usage, "cpu_user_ns"), system = number_of(usage, "cpu_system_ns");

	take_json(&g->result, (json_t *)result);
	g->state = GLANCE_ENDED;
	take_text(&g->name, result, "name");
	take_text(&g->scope, result, "scope");
	take_clauses(g, json_object_get(json_object_get(result, "tier"), "clauses"));
	take_limits(g, json_object_get(result, "limits"));
	take_time(&g->started_unix_ns,
		  json_string_value(json_object_get(json_object_get(result, "times"), "started")));
	take_number(&g->processes_ever, json_object_get(result, "tree"), "processes");
	take_number(&g->memory_peak_bytes, usage, "memory_peak_bytes");
	take_number(&g->read_bytes, usage, "read_bytes");
	take_number(&g->write_bytes, usage, "write_bytes");
	take_number(&g->denials, json_object_get(result, "denials"), "total");
	take_number(&g->denials_dropped, json_object_get(result, "denials"), "dropped");
	if (user != GLANCE_UNKNOWN && system != GLANCE_UNKNOWN)
		g->cpu_ns = user + system;
	g->processes = 0;
	g->deadline_left_ns = GLANCE_NONE;
}

/* The keeper's own word on the time left is as old as its answer; ours is of now. */
void glance_tick(struct glance *g, int64_t now_unix_ns)
{
	if (g->age_ns == GLANCE_UNKNOWN && g->started_unix_ns >= 0)
		g->age_ns = now_unix_ns > g->started_unix_ns
				    ? (uint64_t)(now_unix_ns - g->started_unix_ns)
				    : 0;
	if (g->tasks ==
	    GLANCE_UNKNOWN) /* where the groups do not count them the kernel half does */
		g->tasks = g->threads;
	if (g->wall_limit_ns == GLANCE_NONE || g->state == GLANCE_ENDED)
		g->deadline_left_ns = GLANCE_NONE;
	else if (g->wall_limit_ns != GLANCE_UNKNOWN && g->age_ns != GLANCE_UNKNOWN)
		g->deadline_left_ns =
			g->wall_limit_ns > g->age_ns ? g->wall_limit_ns - g->age_ns : 0;
}
