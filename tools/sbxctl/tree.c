/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/own.h"
#include "print.h"

#define DEPTH_MAX 64

/* What one print takes along. */
struct tree_view {
	FILE *out;
	const struct result *result;
	bool color;
	bool *done; /* records that are printed */
};

static void print_one(const struct tree_view *v, const struct process_record *r, int depth)
{
	char how[32] = "still there";

	if (r->exit_code >= 0)
		snprintf(how, sizeof(how), "exit %d", r->exit_code);
	else if (r->signal > 0)
		num_signal_text(r->signal, how, sizeof(how));
	fprintf(v->out, "%*s", 2 * depth, "");
	print_text(v->out, r->comm);
	fprintf(v->out, " %u  ", r->pid);
	print_colored(v->out, r->exit_code == 0 ? PRINT_DIM : PRINT_BAD, v->color, how);
	if (r->ended_ns != RESULT_NONE && r->ended_ns > r->started_ns)
		fprintf(v->out, "  %.3f s", (double)(r->ended_ns - r->started_ns) / 1e9);
	fputc('\n', v->out);
}

/* Children of `ppid` that are not printed yet; the bound on depth also ends what a reused number would make endless. */
static void print_children(const struct tree_view *v, uint32_t ppid, int depth)
{
	const struct result *r = v->result;

	for (size_t i = 0; i < r->record_count && depth < DEPTH_MAX; i++) {
		if (v->done[i] || r->records[i].ppid != ppid)
			continue;
		v->done[i] = true;
		print_one(v, &r->records[i], depth);
		print_children(v, r->records[i].pid, depth + 1);
	}
}

static bool has_record(const struct result *r, uint32_t pid)
{
	for (size_t i = 0; i < r->record_count; i++)
		if (r->records[i].pid == pid)
			return true;
	return false;
}

void tree_print(FILE *out, const struct result *r, bool color)
{
	own_mem bool *done = calloc(r->record_count + 1, sizeof(bool));
	const struct tree_view v = { .out = out, .result = r, .color = color, .done = done };

	if (!done)
		return;
	for (size_t i = 0; i < r->record_count; i++) {
		if (done[i] || has_record(r, r->records[i].ppid))
			continue;
		done[i] = true;
		print_one(&v, &r->records[i], 0);
		print_children(&v, r->records[i].pid, 1);
	}
	if (r->records_dropped)
		fprintf(out, "(%llu more)\n", (unsigned long long)r->records_dropped);
}
