/* SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/own.h"
#include "base/text.h"
#include "sbxctl/print.h"

#define SETTLE_MS 1000 /* patience with keepers in one frame */
#define FRAME_COLUMNS \
	"id,name,state,tier,owner,age,deadline,cpu%,memory,tasks,io,out,denied,lost,command"

static json_t *number(uint64_t n)
{
	return n >= GLANCE_NONE ? json_null() : json_integer((json_int_t)n);
}

/* ---- JSON ---- */

static json_t *process_json(const struct model *m, const struct model_line *line, uint32_t depth)
{
	const struct view_process *p = &m->look.processes[line->process];
	const char state[] = { p->state, 0 };
	size_t len = 0;
	bool lossy;
	own_str comm = text_to_utf8(p->comm, strlen(p->comm), &len, &lossy);

	return json_pack("{s:i, s:i, s:s, s:s, s:i, s:I, s:o, s:i}", "pid", (int)p->pid, "ppid",
			 (int)p->ppid, "comm", comm ? comm : "", "state", state, "threads",
			 (int)p->threads, "cpu_ns", (json_int_t)p->cpu_ns, "cpu_permille",
			 number(m->process_cpu[line->process]), "depth", (int)depth);
}

static json_t *run_json(const struct model *m, const struct model_line *line)
{
	const struct model_run *r = &m->runs[line->run];
	json_t *out = glance_json(r->row.run);

	json_object_set_new(out, "cpu_permille", number(r->row.cpu_permille));
	json_object_set_new(out, "output_bytes_per_s", number(r->row.output_rate));
	json_object_set_new(out, "io_bytes_per_s", number(r->row.io_rate));
	json_object_set_new(out, "depth", json_integer((json_int_t)line->depth));
	json_object_set_new(out, "tree", json_array());
	return out;
}

static json_t *frame_json(const struct watch *w)
{
	const struct model *m = w->model;
	const struct model_sums sums = model_sums(m);
	json_t *runs = json_array(), *last = NULL;
	uint32_t depth = 0;

	for (size_t i = 0; i < m->line_count; i++) {
		const struct model_line *line = &m->lines[i];

		if (line->process != MODEL_NO_PROCESS) {
			json_array_append_new(json_object_get(last, "tree"),
					      process_json(m, line, line->depth - depth - 1));
			continue;
		}
		last = run_json(m, line);
		depth = line->depth;
		json_array_append_new(runs, last);
	}
	return json_pack("{s:I, s:s?, s:I, s:I, s:I, s:I, s:I, s:o}", "boot_ns",
			 (json_int_t)m->look.now_ns, "error", w->err.code ? w->err.text : NULL,
			 "processes", (json_int_t)sums.processes, "threads",
			 (json_int_t)sums.threads, "denials", (json_int_t)sums.denials, "lost",
			 (json_int_t)sums.lost, "processes_not_told",
			 (json_int_t)m->look.processes_dropped, "runs", runs);
}

/* ---- text ---- */

static void add_line(const struct model *m, struct table *t, const struct column *const *list,
		     int count, const struct model_line *line)
{
	const struct column_row *row = &m->runs[line->run].row;
	struct column_process p = { .now_ns = m->look.now_ns, .depth = line->depth };
	char text[COLUMN_TEXT];

	if (line->process != MODEL_NO_PROCESS) {
		p.process = &m->look.processes[line->process];
		p.cpu_permille = m->process_cpu[line->process];
		p.depth -= 1;
	}
	for (int c = 0; c < count; c++) {
		if (p.process)
			column_process(list[c], &p, text, sizeof(text));
		else
			list[c]->text(row, text, sizeof(text));
		table_cell(t, PRINT_PLAIN, "%s", p.process && !*text ? " " : text);
	}
}

static int print_text_frame(const struct watch *w)
{
	const struct column *list[TABLE_COLUMNS_MAX];
	const char *heads[TABLE_COLUMNS_MAX];
	const struct model_sums s = model_sums(w->model);
	int count = column_list(FRAME_COLUMNS, list, TABLE_COLUMNS_MAX, NULL), rc;
	struct table t;

	printf("%zu runs, %llu processes, %llu threads, %llu refused, %llu lost, %u reduced\n",
	       s.runs, (unsigned long long)s.processes, (unsigned long long)s.threads,
	       (unsigned long long)s.denials, (unsigned long long)s.lost, s.reduced);
	if (w->err.code) {
		fputs("not everything could be read: ", stdout);
		print_text(stdout, w->err.text);
		putchar('\n');
	}
	for (int c = 0; c < count; c++)
		heads[c] = list[c]->head;
	table_init(&t, heads, (size_t)count);
	for (size_t i = 0; i < w->model->line_count; i++)
		add_line(w->model, &t, list, count, &w->model->lines[i]);
	rc = table_print(&t, stdout, false);
	table_done(&t);
	return rc;
}

static int print_frame(const struct watch *w, const struct options *o)
{
	json_t *frame;
	int rc;

	if (!o->json) {
		rc = print_text_frame(w);
	} else {
		frame = frame_json(w);
		rc = print_json(stdout, frame, false);
		json_decref(frame);
	}
	return rc || fflush(stdout) || ferror(stdout) ? -1 : 0;
}

/* What keepers alone know is asked for by one look, and is in the next. */
static void settled_look(struct watch *w)
{
	if (!survey_count(w->survey))
		survey_look(w->survey, &w->err);
	watch_want_all(w);
	survey_look(w->survey, &w->err);
	survey_settle(w->survey, SETTLE_MS);
	watch_look(w);
}

int batch_run(struct watch *w, const struct options *o)
{
	const struct timespec pause = { .tv_sec = (time_t)(o->delay_ns / 1000000000),
					.tv_nsec = (long)(o->delay_ns % 1000000000) };

	for (unsigned long i = 0; !o->frames || i < o->frames; i++) {
		if (i) {
			nanosleep(&pause, NULL);
			if (!o->json)
				putchar('\n');
		}
		settled_look(w);
		if (print_frame(w, o))
			return 1;
	}
	return w->err.code ? 1 : 0;
}
