/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_scene: three runs as the tests of sbxtop see them: "aaaaaaaaab" (build, the oldest) with two processes
 * and "bbbbbbbbbb" inside it, with two; and "cccccccccc", of which little is known.
 */
#ifndef UNIT_TOP_SCENE_H
#define UNIT_TOP_SCENE_H

#include "kern/kern.h"
#include "sbxtop/model.h"

#define SCENE_RUNS 3
#define SCENE_PROCESSES 4

struct scene {
	struct model *model;
	struct glance runs[SCENE_RUNS];
	const struct glance *list[SCENE_RUNS];
	struct view_process processes[SCENE_PROCESSES];
};

static void scene_run(struct glance *g, const char *id, uint64_t age_s)
{
	glance_init(g, id);
	g->state = GLANCE_RUNNING;
	g->owner = 0;
	g->tier = 'B';
	g->age_ns = age_s * 1000000000;
	g->started_unix_ns = (int64_t)(1000 - age_s) * 1000000000;
	g->wall_limit_ns = g->deadline_left_ns = GLANCE_NONE;
	g->processes = g->threads = g->tasks = 2;
	g->cpu_ns = 1000000000;
	g->memory_bytes = 3 << 20;
	g->memory_max_bytes = g->tasks_max = GLANCE_NONE;
	g->denials = g->denials_dropped = g->events_dropped = 0;
	g->output_bytes = 0;
}

static inline struct scene *scene_new(void)
{
	static const struct view_process processes[SCENE_PROCESSES] = {
		{ .pid = 100,
		  .ppid = 1,
		  .start_ns = 1000000000,
		  .threads = 1,
		  .state = 'S',
		  .comm = "make" },
		{ .pid = 101,
		  .ppid = 100,
		  .start_ns = 2000000000,
		  .threads = 3,
		  .state = 'R',
		  .comm = "cc1" },
		{ .pid = 200,
		  .ppid = 101,
		  .start_ns = 3000000000,
		  .threads = 1,
		  .state = 'S',
		  .comm = "sh" },
		{ .pid = 201,
		  .ppid = 200,
		  .start_ns = 4000000000,
		  .threads = 1,
		  .state = 'D',
		  .comm = "tar" },
	};
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	assert_int_equal(model_new(&s->model, NULL), 0);
	scene_run(&s->runs[0], "aaaaaaaaab", 90);
	scene_run(&s->runs[1], "bbbbbbbbbb", 60);
	scene_run(&s->runs[2], "cccccccccc", 5);
	s->runs[0].name = strdup("build");
	s->runs[0].command = strdup("make -j2 all");
	s->runs[0].deadline_left_ns = 210000000000;
	s->runs[0].memory_max_bytes = 512 << 20;
	s->runs[0].tasks_max = 128;
	s->runs[0].processes = s->runs[0].threads = 4;
	s->runs[0].denials = 12;
	s->runs[0].events_dropped = 7, s->runs[0].reduced = 1;
	s->runs[1].command = strdup("sh -c 'tar x'");
	s->runs[1].parent = s->runs[0].number;
	s->runs[2].command = strdup("sleep 100");
	s->runs[2].processes = s->runs[2].threads = s->runs[2].tasks = 0;
	memcpy(s->processes, processes, sizeof(processes));
	for (size_t i = 0; i < SCENE_PROCESSES; i++)
		s->processes[i].sandbox = s->runs[i / 2].number;
	for (size_t i = 0; i < SCENE_RUNS; i++)
		s->list[i] = &s->runs[i];
	return s;
}

static inline void scene_take(struct scene *s, uint64_t now_ns)
{
	const struct model_look look = { .now_ns = now_ns,
					 .runs = s->list,
					 .run_count = SCENE_RUNS,
					 .processes = s->processes,
					 .process_count = SCENE_PROCESSES };

	assert_int_equal(model_take(s->model, &look), 0);
}

static inline void scene_take_none(struct scene *s)
{
	const struct model_look look = { .now_ns = 1 };

	assert_int_equal(model_take(s->model, &look), 0);
}

static inline void scene_free(struct scene *s)
{
	for (size_t i = 0; i < SCENE_RUNS; i++)
		glance_done(&s->runs[i]);
	model_free(s->model);
	free(s);
}

#endif
