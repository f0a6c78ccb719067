/* SPDX-License-Identifier: Apache-2.0 */
#include "column.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "base/text.h"
#include "print.h"

/* ---- quantities ---- */

static bool is_word(uint64_t n, char *buf, size_t size)
{
	if (n != GLANCE_UNKNOWN && n != GLANCE_NONE)
		return false;
	snprintf(buf, size, "%s", n == GLANCE_UNKNOWN ? "?" : "-");
	return true;
}

void column_number(uint64_t n, char *buf, size_t size)
{
	if (!is_word(n, buf, size))
		snprintf(buf, size, "%llu", (unsigned long long)n);
}

void column_size(uint64_t bytes, char *buf, size_t size)
{
	if (!is_word(bytes, buf, size))
		print_size(bytes, buf, size);
}

void column_duration(uint64_t ns, char *buf, size_t size)
{
	if (!is_word(ns, buf, size))
		print_duration(ns, buf, size);
}

/* "3/128", and of what nobody limits "3". */
static void of_limit(const char *now, const char *limit, char *buf, size_t size)
{
	if (!strcmp(limit, "-"))
		snprintf(buf, size, "%s", now);
	else
		snprintf(buf, size, "%s/%s", now, limit);
}

static void copy(const char *text, char *buf, size_t size)
{
	snprintf(buf, size, "%s", text ? text : "");
	buf[text_cut_head(buf, strlen(buf), size - 1)] = 0;
}

/* ---- one function a column ---- */

static void id_text(const struct column_row *r, char *buf, size_t size)
{
	copy(r->run->id, buf, size);
}

static void name_text(const struct column_row *r, char *buf, size_t size)
{
	copy(r->run->name, buf, size);
}

static void command_text(const struct column_row *r, char *buf, size_t size)
{
	copy(r->run->command, buf, size);
}

static void scope_text(const struct column_row *r, char *buf, size_t size)
{
	copy(r->run->scope, buf, size);
}

static const char *word_of(const json_t *result, const char *key)
{
	const char *text = json_string_value(json_object_get(result, key));

	return text ? text : "";
}

/* "running", or of an ended one what is worth knowing: "exited 0", "signaled 9", "limit_exceeded wall". */
static void state_text(const struct column_row *r, char *buf, size_t size)
{
	const json_t *result = r->run->result;
	const char *outcome = word_of(result, "outcome"), *by = word_of(result, "killed_by");
	const char *number = !strcmp(outcome, "exited")	    ? "exit_code"
			     : !strcmp(outcome, "signaled") ? "signal"
							    : NULL;

	if (!result)
		copy(glance_state_names[r->run->state], buf, size);
	else if (number)
		snprintf(buf, size, "%s %lld", outcome,
			 (long long)json_integer_value(json_object_get(result, number)));
	else
		snprintf(buf, size, "%s%s%s", outcome, *by ? " " : "", by);
}

/* "B", and how many clauses it was let off: "B-1". */
static void tier_text(const struct column_row *r, char *buf, size_t size)
{
	if (r->run->reduced)
		snprintf(buf, size, "%c-%u", r->run->tier, r->run->reduced);
	else
		snprintf(buf, size, "%c", r->run->tier);
}

static uint64_t tier_key(const struct column_row *r)
{
	return r->run->reduced;
}

/* From the file alone, whose reading needs no library of the host; the last answer is remembered. */
static const char *user_name(uid_t uid)
{
	static struct {
		uid_t uid;
		bool known;
		char name[64];
	} last;
	own_file passwd = NULL;
	struct passwd *entry;

	if (last.known && last.uid == uid)
		return last.name;
	last.known = true;
	last.uid = uid;
	snprintf(last.name, sizeof(last.name), "%u", uid);
	passwd = fopen("/etc/passwd", "re");
	while (passwd && (entry = fgetpwent(passwd)))
		if (entry->pw_uid == uid) {
			snprintf(last.name, sizeof(last.name), "%s", entry->pw_name);
			break;
		}
	return last.name;
}

static void owner_text(const struct column_row *r, char *buf, size_t size)
{
	copy(r->run->owner == GLANCE_UID_UNKNOWN ? "?" : user_name(r->run->owner), buf, size);
}

#define FIGURE(name, field, form)                                                   \
	static uint64_t name##_key(const struct column_row *r)                      \
	{                                                                           \
		return r->field;                                                    \
	}                                                                           \
	static void name##_text(const struct column_row *r, char *buf, size_t size) \
	{                                                                           \
		column_##form(r->field, buf, size);                                 \
	}

FIGURE(age, run->age_ns, duration)
FIGURE(left, run->deadline_left_ns, duration)
FIGURE(time, run->cpu_ns, duration)
FIGURE(peak, run->memory_peak_bytes, size)
FIGURE(output, run->output_bytes, size)
FIGURE(out, output_rate, size)
FIGURE(io, io_rate, size)
FIGURE(read, run->read_bytes, size)
FIGURE(write, run->write_bytes, size)
FIGURE(denied, run->denials, number)
FIGURE(threads, run->threads, number)

static uint64_t procs_key(const struct column_row *r)
{
	return r->run->result ? r->run->processes_ever : r->run->processes;
}

static void procs_text(const struct column_row *r, char *buf, size_t size)
{
	column_number(procs_key(r), buf, size);
}

static uint64_t cpu_key(const struct column_row *r)
{
	return r->cpu_permille;
}

static void cpu_text(const struct column_row *r, char *buf, size_t size)
{
	if (!is_word(r->cpu_permille, buf, size))
		snprintf(buf, size, "%llu.%llu", (unsigned long long)(r->cpu_permille / 10),
			 (unsigned long long)(r->cpu_permille % 10));
}

static uint64_t memory_key(const struct column_row *r)
{
	return r->run->memory_bytes;
}

static void memory_text(const struct column_row *r, char *buf, size_t size)
{
	char now[32], limit[32];

	column_size(r->run->memory_bytes, now, sizeof(now));
	column_size(r->run->memory_max_bytes, limit, sizeof(limit));
	of_limit(now, limit, buf, size);
}

static uint64_t tasks_key(const struct column_row *r)
{
	return r->run->threads;
}

/* Where the group does not count them the kernel half does. */
static void tasks_text(const struct column_row *r, char *buf, size_t size)
{
	const struct glance *g = r->run;
	char now[32], limit[32];

	column_number(g->tasks == GLANCE_UNKNOWN ? g->threads : g->tasks, now, sizeof(now));
	column_number(g->tasks_max, limit, sizeof(limit));
	of_limit(now, limit, buf, size);
}

/* Events and denials that nobody could keep. */
static uint64_t lost_key(const struct column_row *r)
{
	const struct glance *g = r->run;

	if (g->events_dropped == GLANCE_UNKNOWN || g->denials_dropped == GLANCE_UNKNOWN)
		return g->events_dropped == GLANCE_UNKNOWN ? g->denials_dropped : g->events_dropped;
	return g->events_dropped + g->denials_dropped;
}

static void lost_text(const struct column_row *r, char *buf, size_t size)
{
	column_number(lost_key(r), buf, size);
}

const struct column columns[] = {
	{ "id", "ID", "id of the run", 10, false, id_text, NULL },
	{ "name", "NAME", "its --name", 12, false, name_text, NULL },
	{ "state", "STATE", "what it is at, or how it ended", 9, false, state_text, NULL },
	{ "tier", "TIER", "tier, and how many clauses it was let off (B-1)", 4, false, tier_text,
	  tier_key },
	{ "owner", "OWNER", "user who may ask about it and end it", 8, false, owner_text, NULL },
	{ "age", "AGE", "since its start", 6, true, age_text, age_key },
	{ "deadline", "DEADLINE", "time left until its deadline", 8, true, left_text, left_key },
	{ "procs", "PROCS", "live processes; of an ended run, all it had", 5, true, procs_text,
	  procs_key },
	{ "threads", "THREADS", "live threads", 7, true, threads_text, threads_key },
	{ "cpu%", "CPU%", "CPU between two looks, of one core", 5, true, cpu_text, cpu_key },
	{ "cpu", "CPU", "CPU time, user and system", 6, true, time_text, time_key },
	{ "memory", "MEMORY", "memory now, and its limit", 12, true, memory_text, memory_key },
	{ "mem", "MEM", "most memory at once", 6, true, peak_text, peak_key },
	{ "tasks", "TASKS", "threads now, and their limit", 9, true, tasks_text, tasks_key },
	{ "read", "READ", "bytes read from disks", 6, true, read_text, read_key },
	{ "write", "WRITE", "bytes written to disks", 6, true, write_text, write_key },
	{ "io", "IO/s", "bytes a second from and to disks", 6, true, io_text, io_key },
	{ "output", "OUTPUT", "bytes on stdout and stderr", 6, true, output_text, output_key },
	{ "out", "OUT/s", "bytes a second on stdout and stderr", 6, true, out_text, out_key },
	{ "denied", "DENIED", "acts that policy refused", 6, true, denied_text, denied_key },
	{ "lost", "LOST", "events and denials that were dropped", 5, true, lost_text, lost_key },
	{ "scope", "SCOPE", "scope of a durable run", 8, false, scope_text, NULL },
	{ "command", "COMMAND", "its command line", 0, false, command_text, NULL },
};
const size_t column_count = sizeof(columns) / sizeof(*columns);

const struct column *column_find(const char *name)
{
	for (size_t i = 0; i < column_count; i++)
		if (!strcmp(columns[i].name, name))
			return &columns[i];
	return NULL;
}

int column_list(const char *text, const struct column **out, size_t most, struct err *err)
{
	const char *names[64];
	size_t count = 0;

	for (size_t i = 0; i < column_count && i < 64; i++)
		names[i] = columns[i].name;
	while (*text) {
		size_t len = strcspn(text, ",");
		char word[32];

		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		if (count == most)
			return err_say(err, ERR_VALIDATION, -EINVAL, "more than %zu columns", most);
		out[count] = column_find(word);
		if (!out[count++]) {
			const char *nearest = text_nearest(word, names, column_count);

			return err_say(err, ERR_VALIDATION, -EINVAL, "unknown column '%s'%s%s%s",
				       word, nearest ? "; did you mean " : "",
				       nearest ? nearest : "", nearest ? "?" : "");
		}
		text += len + (text[len] == ',');
	}
	return count ? (int)count : err_say(err, ERR_VALIDATION, -EINVAL, "no column is named");
}

/* ---- processes ---- */

#define INDENT_MAX 24

static const char *process_state(char letter)
{
	static const struct {
		char letter;
		const char *word;
	} words[] = {
		{ 'R', "R run" },   { 'S', "S sleep" },	 { 'D', "D disk" }, { 'T', "T stop" },
		{ 't', "t trace" }, { 'Z', "Z zombie" }, { 'X', "X ends" }, { 'I', "I idle" }
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].letter == letter)
			return words[i].word;
	return "?";
}

static void process_name(const struct column_process *p, char *buf, size_t size)
{
	unsigned int depth = p->depth < INDENT_MAX ? p->depth : INDENT_MAX;

	snprintf(buf, size, "%*s%s%s", 2 * (int)depth, "", "\xe2\x94\x94 ", p->process->comm);
}

void column_process(const struct column *column, const struct column_process *p, char *buf,
		    size_t size)
{
	const struct view_process *v = p->process;
	const struct column_row row = { .cpu_permille = p->cpu_permille };

	buf[0] = 0;
	if (column->text == id_text)
		snprintf(buf, size, "%10u", v->pid);
	else if (column->text == command_text)
		process_name(p, buf, size);
	else if (column->text == state_text)
		snprintf(buf, size, "%s", process_state(v->state));
	else if (column->text == age_text)
		column_duration(p->now_ns > v->start_ns ? p->now_ns - v->start_ns : 0, buf, size);
	else if (column->text == time_text)
		column_duration(v->cpu_ns, buf, size);
	else if (column->text == cpu_text)
		cpu_text(&row, buf, size);
	else if (column->text == tasks_text || column->text == threads_text)
		column_number(v->threads, buf, size);
}

enum print_color column_color(const struct column *column, const struct column_row *row)
{
	const struct glance *g = row->run;

	if (column->text == denied_text || column->text == lost_text)
		return column->key(row) && column->key(row) < GLANCE_NONE ? PRINT_WARN
									  : PRINT_PLAIN;
	if (column->text == tier_text)
		return g->reduced ? PRINT_WARN : PRINT_PLAIN;
	if (column->text != state_text)
		return PRINT_PLAIN;
	if (g->result)
		return strcmp(word_of(g->result, "outcome"), "exited") ||
				       json_integer_value(json_object_get(g->result, "exit_code"))
			       ? PRINT_BAD
			       : PRINT_PLAIN;
	return g->state == GLANCE_RUNNING ? PRINT_GOOD : PRINT_WARN;
}
