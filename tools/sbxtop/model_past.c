/* SPDX-License-Identifier: Apache-2.0 */
#include "model_past.h"

#include <stdlib.h>

struct past_run {
	uint64_t number, cpu_ns, output_bytes, io_bytes;
};

struct past_process {
	uint64_t sandbox, start_ns, cpu_ns;
	uint32_t pid;
};

struct model_past {
	uint64_t at_ns; /* 0: there was none */
	struct past_run *runs;
	struct past_process *processes;
	size_t run_count, run_room, process_count, process_room;
};

struct model_past *model_past_new(void)
{
	return calloc(1, sizeof(struct model_past));
}

void model_past_free(struct model_past *p)
{
	if (!p)
		return;
	free(p->runs);
	free(p->processes);
	free(p);
}

/* A second, in `unit` ns: of 1,000,000 that is permille of one core for ns of CPU. */
static uint64_t rate(uint64_t now, uint64_t before, uint64_t ns, uint64_t unit)
{
	if (now >= GLANCE_NONE || before >= GLANCE_NONE || !ns)
		return GLANCE_UNKNOWN;
	return now > before ? (uint64_t)((double)(now - before) * (double)unit / (double)ns) : 0;
}

#define PER_SECOND 1000000000ULL
#define PERMILLE 1000ULL

static uint64_t io_of(const struct glance *g)
{
	if (g->read_bytes >= GLANCE_NONE || g->write_bytes >= GLANCE_NONE)
		return GLANCE_UNKNOWN;
	return g->read_bytes + g->write_bytes;
}

/* Both are by number. */
static void run_rates(const struct model_past *p, struct model *m, uint64_t ns)
{
	size_t at = 0;

	for (size_t i = 0; i < m->run_count; i++) {
		struct column_row *row = &m->runs[i].row;
		const struct glance *g = row->run;
		const struct past_run *was = NULL;

		while (at < p->run_count && p->runs[at].number < g->number)
			at++;
		if (at < p->run_count && p->runs[at].number == g->number)
			was = &p->runs[at];
		row->cpu_permille =
			rate(g->cpu_ns, was ? was->cpu_ns : GLANCE_UNKNOWN, ns, PERMILLE);
		row->output_rate = rate(g->output_bytes, was ? was->output_bytes : GLANCE_UNKNOWN,
					ns, PER_SECOND);
		row->io_rate = rate(io_of(g), was ? was->io_bytes : GLANCE_UNKNOWN, ns, PER_SECOND);
	}
}

static int compare(const struct past_process *a, const struct view_process *b)
{
	if (a->sandbox != b->sandbox)
		return a->sandbox < b->sandbox ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void process_rates(const struct model_past *p, struct model *m, uint64_t ns)
{
	size_t at = 0;

	for (size_t i = 0; i < m->look.process_count; i++) {
		const struct view_process *v = &m->look.processes[i];
		bool known;

		while (at < p->process_count && compare(&p->processes[at], v) < 0)
			at++;
		known = at < p->process_count && !compare(&p->processes[at], v);
		m->process_cpu[i] =
			rate(v->cpu_ns, known ? p->processes[at].cpu_ns : GLANCE_UNKNOWN, ns,
			     PERMILLE);
	}
}

/* Without room the next look has no rates: unknown, not wrong. */
static bool make_room(struct model_past *p, const struct model *m)
{
	void *grown;

	p->run_count = p->process_count = 0;
	if (p->run_room < m->run_count) {
		grown = realloc(p->runs, 2 * m->run_count * sizeof(*p->runs));
		if (!grown)
			return false;
		p->runs = grown;
		p->run_room = 2 * m->run_count;
	}
	if (p->process_room < m->look.process_count) {
		grown = realloc(p->processes, 2 * m->look.process_count * sizeof(*p->processes));
		if (!grown)
			return false;
		p->processes = grown;
		p->process_room = 2 * m->look.process_count;
	}
	return true;
}

void model_past_rates(struct model_past *p, struct model *m)
{
	uint64_t ns = p->at_ns && m->look.now_ns > p->at_ns ? m->look.now_ns - p->at_ns : 0;

	run_rates(p, m, ns);
	process_rates(p, m, ns);
	p->at_ns = m->look.now_ns;
	if (!make_room(p, m))
		return;
	for (size_t i = 0; i < m->run_count; i++) {
		const struct glance *g = m->runs[i].row.run;

		p->runs[p->run_count++] =
			(struct past_run){ g->number, g->cpu_ns, g->output_bytes, io_of(g) };
	}
	for (size_t i = 0; i < m->look.process_count; i++) {
		const struct view_process *v = &m->look.processes[i];

		p->processes[p->process_count++] =
			(struct past_process){ v->sandbox, v->start_ns, v->cpu_ns, v->pid };
	}
}
