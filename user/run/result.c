/* SPDX-License-Identifier: Apache-2.0 */
#include "run/result.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "base/text.h"
#include "policy/capability.h"

#define DIAGNOSTIC_MAX 512
#define EXIT_DEADLINE 124
#define EXIT_COULD_NOT_RUN 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127
#define EXIT_FORCED 137

void result_init(struct result *r)
{
	*r = (struct result){
		.exit_code = -1,
		.signal = -1,
		.limit = -1,
		.limit_actual = RESULT_NONE,
		.started_unix_ns = -1,
		.ended_unix_ns = -1,
		.wall_ns = RESULT_NONE,
		.deadline_ns = RESULT_NONE,
		.overrun_ns = RESULT_NONE,
		.cpu_user_ns = RESULT_NONE,
		.cpu_system_ns = RESULT_NONE,
		.memory_peak_bytes = RESULT_NONE,
		.tasks_peak = RESULT_NONE,
		.read_bytes = RESULT_NONE,
		.write_bytes = RESULT_NONE,
	};
	for (int i = 0; i < LIMIT__COUNT; i++)
		r->limits[i].still_in_force = -1;
}

static void output_done(struct output_record *out)
{
	free(out->text);
	free(out->spill);
}

void result_done(struct result *r)
{
	free(r->records);
	free(r->autopsy);
	output_done(&r->out);
	output_done(&r->err_);
	denied_done(&r->denied);
	result_init(r);
}

/* Copies what fits of `from`, on a character boundary; what is not UTF-8 becomes U+FFFD. */
static void copy_text(char *to, size_t size, const char *from)
{
	size_t len = strlen(from);
	bool lossy;
	own_str utf8 = text_to_utf8(from, len, &len, &lossy);

	if (!utf8)
		len = 0;
	len = text_cut_head(utf8 ? utf8 : "", len, size - 1);
	memcpy(to, utf8 ? utf8 : "", len);
	to[len] = 0;
}

void result_clause(struct result *r, const char *capability, const char *mechanism, bool listed,
		   bool attempted, bool enforced, const char *detail_fmt, ...)
{
	char detail[2 * sizeof(r->clauses[0].detail)] = "";
	struct tier_clause *clause;
	va_list args;

	if (r->clause_count == RESULT_CLAUSES_MAX) {
		copy_text(r->clauses[RESULT_CLAUSES_MAX - 1].detail, sizeof(clause->detail),
			  "more clauses");
		return;
	}
	if (detail_fmt) {
		va_start(args, detail_fmt);
		vsnprintf(detail, sizeof(detail), detail_fmt, args);
		va_end(args);
	}
	clause = &r->clauses[r->clause_count++];
	copy_text(clause->capability, sizeof(clause->capability), capability);
	copy_text(clause->mechanism, sizeof(clause->mechanism), mechanism);
	copy_text(clause->detail, sizeof(clause->detail), detail);
	clause->listed = listed;
	clause->attempted = attempted;
	clause->enforced = enforced;
}

static const struct tier_clause *find_clause(const struct result *r, const char *capability)
{
	for (size_t i = 0; i < r->clause_count; i++)
		if (!strcmp(r->clauses[i].capability, capability))
			return &r->clauses[i];
	return NULL;
}

static void clause_text(const struct tier_clause *clause, char *buf, size_t size)
{
	if (clause && !strcmp(clause->mechanism, "waived"))
		snprintf(buf, size, "waived");
	else if (!clause || !strcmp(clause->mechanism, "not asked"))
		snprintf(buf, size, "not asked");
	else if (clause->enforced)
		snprintf(buf, size, "%s", clause->mechanism);
	else if (clause->detail[0])
		snprintf(buf, size, "not enforced (%s)", clause->detail);
	else
		snprintf(buf, size, "not enforced");
}

void result_sentence(struct result *r)
{
	char line[2 * sizeof(r->tier_sentence)] = "", when[RESULT_TIME_LEN];
	size_t used = 0;

	if (r->attach.pid) {
		result_time_text(r->started_unix_ns, when);
		used = (size_t)snprintf(line, sizeof(line), "attached at %s", when);
	}
	for (int i = 0; i < CAP__COUNT && used < sizeof(line); i++) {
		const struct tier_clause *clause = find_clause(r, capability_table[i].name);
		char text[sizeof(clause->detail) + 32];

		if (!clause && !capability_table[i].always)
			continue;
		clause_text(clause, text, sizeof(text));
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s: %s",
					 used ? "; " : "", capability_table[i].label, text);
	}
	copy_text(r->tier_sentence, sizeof(r->tier_sentence), line);
}

void result_diagnostic(struct result *r, uint64_t max_bytes, const char *fmt, ...)
{
	/* Twice the bound: whatever vsnprintf splits lies beyond the cut. */
	char raw[2 * DIAGNOSTIC_MAX];
	size_t size = DIAGNOSTIC_MAX + 1;
	va_list args;

	if (max_bytes < DIAGNOSTIC_MAX)
		size = (size_t)max_bytes + 1;
	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	copy_text(r->diagnostic, size, raw);
}

int result_exit_status(const struct result *r)
{
	switch (r->outcome) {
	case OUTCOME_EXITED:
		return r->exit_code;
	case OUTCOME_SIGNALED:
		return 128 + r->signal;
	case OUTCOME_LIMIT_EXCEEDED:
		return r->killed_by == KILLED_BY_WALL ? EXIT_DEADLINE : EXIT_FORCED;
	case OUTCOME_COULD_NOT_RUN:
		if (!r->launch_errno)
			return EXIT_COULD_NOT_RUN;
		return r->launch_errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	case OUTCOME_UNKNOWN:
		return EXIT_COULD_NOT_RUN;
	case OUTCOME_DETACHED:
		return 0;
	case OUTCOME_CANCELLED:
	case OUTCOME_OWNER_EXITED:
	case OUTCOME_STOPPED:
	case OUTCOME_INTERNAL_ERROR:
		break;
	}
	return EXIT_FORCED;
}

int result_json_exit_status(const json_t *result)
{
	const char *outcome = json_string_value(json_object_get(result, "outcome"));
	const char *killed_by = json_string_value(json_object_get(result, "killed_by"));
	const struct result r = {
		.outcome = outcome_find(outcome),
		.killed_by = killed_by_find(killed_by),
		.exit_code = (int)json_integer_value(json_object_get(result, "exit_code")) & 0xff,
		.signal = (int)json_integer_value(json_object_get(result, "signal")) & 0x7f,
	};

	return result_exit_status(&r);
}

void result_time_text(int64_t unix_ns, char buf[RESULT_TIME_LEN])
{
	int64_t seconds = unix_ns / 1000000000, of_day = seconds % 86400;
	int64_t days = seconds / 86400 + 719468; /* since 0000-03-01 */
	int64_t era = days / 146097, of_era = days % 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153; /* from March */

	snprintf(buf, RESULT_TIME_LEN, "%04d-%02d-%02dT%02d:%02d:%02d.%09dZ",
		 (int)(year + era * 400 + (month >= 10)), (int)(month < 10 ? month + 3 : month - 9),
		 (int)(of_year - (153 * month + 2) / 5 + 1), (int)(of_day / 3600),
		 (int)(of_day / 60 % 60), (int)(of_day % 60), (int)(unix_ns % 1000000000));
}
