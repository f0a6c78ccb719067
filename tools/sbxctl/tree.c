/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/own.h"

#define DEPTH_MAX 64

static void print_one(FILE *out, const struct process_record *r, int depth)
{
	char how[32] = "still there";
	char sig[24];

	if (r->exit_code >= 0)
		snprintf(how, sizeof(how), "exit %d", r->exit_code);
	else if (r->signal > 0) {
		num_signal_text(r->signal, sig, sizeof(sig));
		snprintf(how, sizeof(how), "%s", sig);
	}
	fprintf(out, "%*s", 2 * depth, "");
	for (const char *c = r->comm; *c; c++)
		fputc(*c >= ' ' && *c < 127 ? *c : '?', out);
	fprintf(out, " %u  %s", r->pid, how);
	if (r->ended_ns != RESULT_NONE && r->ended_ns > r->started_ns)
		fprintf(out, "  %.3f s", (double)(r->ended_ns - r->started_ns) / 1e9);
	fputc('\n', out);
}

/* Children of `ppid` that are not printed yet; the bound on depth also ends what a reused number would make endless. */
static void print_children(FILE *out, const struct result *r, bool *done, uint32_t ppid, int depth)
{
	for (size_t i = 0; i < r->record_count && depth < DEPTH_MAX; i++) {
		if (done[i] || r->records[i].ppid != ppid)
			continue;
		done[i] = true;
		print_one(out, &r->records[i], depth);
		print_children(out, r, done, r->records[i].pid, depth + 1);
	}
}

static bool has_record(const struct result *r, uint32_t pid)
{
	for (size_t i = 0; i < r->record_count; i++)
		if (r->records[i].pid == pid)
			return true;
	return false;
}

void tree_print(FILE *out, const struct result *r)
{
	own_mem bool *done = calloc(r->record_count + 1, sizeof(bool));

	if (!done)
		return;
	for (size_t i = 0; i < r->record_count; i++) {
		if (done[i] || has_record(r, r->records[i].ppid))
			continue;
		done[i] = true;
		print_one(out, &r->records[i], 0);
		print_children(out, r, done, r->records[i].pid, 1);
	}
	if (r->records_dropped)
		fprintf(out, "(%llu more)\n", (unsigned long long)r->records_dropped);
}
