/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status: the live view of a run, for ps, inspect and sbxtop.
 *
 * {id, name, labels, scope, state, owner_uid, keeper_pid, root_pid, started, wall_ns, deadline_left_ns,
 *  command: [argv], tree: {live, peak, processes, threads}, usage: {cpu_ns, memory_bytes,
 *  memory_peak_bytes, tasks, read_bytes, write_bytes}, output: {stdout, stderr} in bytes,
 *  denials: {total, dropped}, events_dropped, cgroup, limits: {name: {value, unit}}, tier, clauses}
 */
#include <string.h>
#include <unistd.h>

#include "kern/cgroup_view.h"
#include "kern/view.h"
#include "run/json.h"

#include "run/meta.h"
#include "run/state.h"

static json_t *number(uint64_t value)
{
	return value == RESULT_NONE ? json_null() : json_integer((json_int_t)value);
}

static json_t *limits_json(const struct run *run)
{
	json_t *out = json_object();

	for (int i = 0; i < LIMIT__COUNT; i++)
		if (limit_in_force(&run->limits[i]))
			json_object_set_new(out, limit_table[i].name,
					    json_pack("{s:I, s:s}", "value",
						      (json_int_t)run->limits[i].value, "unit",
						      limit_table[i].unit));
	return out;
}

static json_t *labels_json(const struct spec *spec)
{
	json_t *out = json_object();

	for (size_t i = 0; i < spec->label_count; i++)
		json_object_set_new(out, spec->labels[i].name, json_string(spec->labels[i].value));
	return out;
}

static uint64_t deadline_left(const struct run *run, uint64_t now)
{
	uint64_t due = run->started_ns + run->limits[LIMIT_WALL].value;

	if (!limit_in_force(&run->limits[LIMIT_WALL]))
		return RESULT_NONE;
	return due > now ? due - now : 0;
}

static json_t *usage_json(const struct run *run)
{
	struct cgroup_view view = { 0 };
	struct cgroup_figures now = { 0 };
	struct cgroup_usage usage;

	cgroup_view_open(&view, cgroup_path(run->cgroup), cgroup_id(run->cgroup));
	cgroup_view_read(&view, false, &now);
	cgroup_view_close(&view);
	cgroup_usage(run->cgroup, &usage);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "cpu_ns", number(now.cpu_ns),
			 "memory_bytes", number(now.memory_bytes), "memory_peak_bytes",
			 number(usage.memory_peak_bytes), "tasks", number(now.tasks), "read_bytes",
			 number(now.read_bytes), "write_bytes", number(now.write_bytes));
}

static json_t *tree_json(const struct sbx_sandbox *row)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "live", (json_int_t)row->live_processes, "peak",
			 (json_int_t)row->live_processes_peak, "processes",
			 (json_int_t)row->processes, "threads", (json_int_t)row->live);
}

/* Who it is, and what does not change but by update. */
static void put_identity(json_t *out, const struct run *run)
{
	char started[RESULT_TIME_LEN];
	size_t dropped;

	result_time_text(run->result.started_unix_ns, started);
	json_object_set_new(out, "id", json_string(run->id_text));
	json_object_set_new(out, "name",
			    run->spec->name ? json_string(run->spec->name) : json_null());
	json_object_set_new(out, "labels", labels_json(run->spec));
	json_object_set_new(out, "scope", json_null());
	json_object_set_new(out, "owner_uid", json_integer((json_int_t)run->dir.reader));
	json_object_set_new(out, "keeper_pid", json_integer(getpid()));
	json_object_set_new(out, "root_pid",
			    run_root_pid(run) > 0 ? json_integer(run_root_pid(run)) : json_null());
	json_object_set_new(out, "started", json_string(started));
	json_object_set_new(out, "command", meta_argv(run->spec, &dropped));
	json_object_set_new(out, "cgroup",
			    cgroup_path(run->cgroup) ? json_string(cgroup_path(run->cgroup))
						     : json_null());
	json_object_set_new(out, "limits", limits_json(run));
	json_object_set_new(out, "tier", json_string(run->result.tier_sentence));
	json_object_set_new(out, "clauses", result_clauses_json(&run->result));
}

json_t *run_status(const struct run *run)
{
	uint64_t now = clock_boot_ns();
	struct sbx_sandbox row = { 0 };
	json_t *out;

	if (!run->kern) /* taken back already */
		return json_pack("{s:s, s:s}", "id", run->id_text, "state",
				 run_state_name(run->state));
	kern_sandbox_read(run->kern, run->id, &row);
	out = json_object();
	put_identity(out, run);
	json_object_set_new(out, "state",
			    json_string(run->frozen ? "frozen" : run_state_name(run->state)));
	json_object_set_new(out, "wall_ns", number(now - run->started_ns));
	json_object_set_new(out, "deadline_left_ns", number(deadline_left(run, now)));
	json_object_set_new(out, "tree", tree_json(&row));
	json_object_set_new(out, "usage", usage_json(run));
	json_object_set_new(out, "output",
			    json_pack("{s:I, s:I}", "stdout",
				      (json_int_t)run->capture.streams[0].store.bytes, "stderr",
				      (json_int_t)run->capture.streams[1].store.bytes));
	json_object_set_new(out, "denials",
			    json_pack("{s:I, s:I}", "total", (json_int_t)row.denials, "dropped",
				      (json_int_t)row.denials_dropped));
	json_object_set_new(out, "events_dropped", json_integer((json_int_t)row.events_dropped));
	return out;
}

/* ---- processes ------------------------------------------------------------------------------ */

static bool inside(const struct run *run, uint64_t sandbox)
{
	struct sbx_sandbox row;

	for (int i = 0; sandbox && sandbox != run->id && i <= SBX_MAX_NEST; i++)
		sandbox = kern_sandbox_read(run->kern, sandbox, &row) ? 0 : row.parent;
	return sandbox == run->id;
}

static json_t *process_json(const struct view_process *p)
{
	const char state[] = { p->state, 0 };
	char id[SBX_ID_LEN + 1];

	kern_id_text(p->sandbox, id);
	return json_pack("{s:s, s:I, s:I, s:o, s:s, s:I, s:I, s:I, s:b}", "sandbox", id, "pid",
			 (json_int_t)p->pid, "ppid", (json_int_t)p->ppid, "comm",
			 json_view(p->comm, strlen(p->comm)), "state", state, "threads",
			 (json_int_t)p->threads, "cpu_ns", (json_int_t)p->cpu_ns, "start_ns",
			 (json_int_t)p->start_ns, "root", p->root);
}

json_t *run_processes(const struct run *run, size_t most)
{
	struct view_processes all = { 0 };
	json_t *list = json_array();
	uint64_t dropped = 0, last = 0;
	bool last_in = false;

	if (run->kern)
		view_processes(run->kern, &all);
	for (size_t i = 0; list && i < all.count; i++) {
		if (all.list[i].sandbox != last)
			last_in = inside(run, all.list[i].sandbox);
		last = all.list[i].sandbox;
		if (last_in && json_array_size(list) < most)
			json_array_append_new(list, process_json(&all.list[i]));
		else
			dropped += last_in;
	}
	view_processes_done(&all);
	return json_pack("{s:o, s:I}", "list", list, "dropped", (json_int_t)dropped);
}
