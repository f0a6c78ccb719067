/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status: the live view of a run, for ps and inspect.
 *
 * {id, name, labels, state, frozen, keeper_pid, root_pid, started, wall_ns, deadline_left_ns,
 *  command: [argv], tree: {live, peak, processes, threads}, usage: {cpu_ns, memory_peak_bytes},
 *  output: {stdout, stderr} in bytes, cgroup, limits: {name: {value, unit}}, tier}
 */
#include <unistd.h>

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

json_t *run_status(const struct run *run)
{
	uint64_t now = clock_boot_ns();
	struct cgroup_usage usage;
	struct sbx_sandbox row = { 0 };
	char started[RESULT_TIME_LEN];
	size_t dropped;
	json_t *out;

	if (!run->kern) /* taken back already */
		return json_pack("{s:s, s:s}", "id", run->id_text, "state",
				 run_state_name(run->state));
	kern_sandbox_read(run->kern, run->id, &row);
	cgroup_usage(run->cgroup, &usage);
	result_time_text(run->result.started_unix_ns, started);
	out = json_object();
	json_object_set_new(out, "id", json_string(run->id_text));
	json_object_set_new(out, "name",
			    run->spec->name ? json_string(run->spec->name) : json_null());
	json_object_set_new(out, "labels", labels_json(run->spec));
	json_object_set_new(out, "state",
			    json_string(run->frozen ? "frozen" : run_state_name(run->state)));
	json_object_set_new(out, "keeper_pid", json_integer(getpid()));
	json_object_set_new(out, "root_pid",
			    run->child.pid > 0 ? json_integer(run->child.pid) : json_null());
	json_object_set_new(out, "started", json_string(started));
	json_object_set_new(out, "wall_ns", number(now - run->started_ns));
	json_object_set_new(out, "deadline_left_ns", number(deadline_left(run, now)));
	json_object_set_new(out, "command", meta_argv(run->spec, &dropped));
	json_object_set_new(out, "tree",
			    json_pack("{s:I, s:I, s:I, s:I}", "live",
				      (json_int_t)row.live_processes, "peak",
				      (json_int_t)row.live_processes_peak, "processes",
				      (json_int_t)row.processes, "threads", (json_int_t)row.live));
	json_object_set_new(out, "usage",
			    json_pack("{s:o, s:o}", "cpu_ns", number(cgroup_cpu_ns(run->cgroup)),
				      "memory_peak_bytes", number(usage.memory_peak_bytes)));
	json_object_set_new(out, "output",
			    json_pack("{s:I, s:I}", "stdout",
				      (json_int_t)run->capture.streams[0].store.bytes, "stderr",
				      (json_int_t)run->capture.streams[1].store.bytes));
	json_object_set_new(out, "cgroup", json_string(cgroup_path(run->cgroup)));
	json_object_set_new(out, "limits", limits_json(run));
	json_object_set_new(out, "tier", json_string(run->result.tier_sentence));
	return out;
}
