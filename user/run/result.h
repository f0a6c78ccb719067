/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result: the typed record of one run, and its JSON form (DESIGN 9, include/sbx/result.schema.json).
 * Plain data, filled by run/, rendered once at the end and never re-derived. UINT64_MAX and -1 mean
 * unmeasured or absent and become null, never 0.
 */
#ifndef RUN_RESULT_H
#define RUN_RESULT_H

#include "policy/spec.h"
#include "run/attached.h"
#include "run/denied.h"
#include "run/outcome.h"

#define RESULT_NONE UINT64_MAX
#define RESULT_RECORDS_MAX 4096 /* process records kept */
#define RESULT_AUTOPSY_MAX 64

struct process_record {
	uint32_t pid, ppid;
	char comm[16];
	int exit_code, signal;	       /* -1: not so ended (or still alive) */
	uint64_t started_ns, ended_ns; /* CLOCK_BOOTTIME; RESULT_NONE: unknown */
};

struct autopsy_row {
	uint32_t pid;
	char comm[16];
	char state; /* as in /proc/PID/stat */
	char wchan[40];
	uint64_t cpu_ns, last_output_ns;
	char waits_for[96];
};

struct output_record {
	uint64_t bytes; /* produced; RESULT_NONE: nobody counted (dead keeper) */
	char *text; /* valid UTF-8, NUL bytes allowed; owned; NULL with bytes 0 is "", else null */
	size_t text_len;
	bool truncated, lossy;
	char *spill; /* path or NULL; owned */
};

struct tier_clause {
	char capability[32], mechanism[48], detail[160];
	bool listed, attempted, enforced;
};
#define RESULT_CLAUSES_MAX 20

struct result_limit {
	struct spec_limit asked;
	int still_in_force; /* 1, 0, -1: not applicable */
};

struct result {
	char id[16];
	const struct spec *spec; /* name, labels; borrowed */
	char spec_digest[65];
	bool launched_by_path;
	struct result_attach attach;

	enum outcome outcome;
	int exit_code, signal; /* -1: absent */
	int launch_errno; /* could_not_run: errno of exec itself (126, 127), 0: it never came to that (125) */
	bool core_dumped;
	enum killed_by killed_by;
	int limit; /* enum limit_id that was exceeded, -1: none */
	uint64_t limit_actual;
	struct {
		char kind[16];
		uint64_t count;
	} limits_hit[4];
	size_t limits_hit_count;
	char note[256]; /* for whoever started it, not on record */
	char diagnostic[513];
	bool output_lost; /* what was passed through did not all arrive, and not for want of a reader */

	int64_t started_unix_ns, ended_unix_ns; /* -1: unknown */
	uint64_t wall_ns, deadline_ns, overrun_ns;
	uint64_t cpu_user_ns, cpu_system_ns, memory_peak_bytes, tasks_peak, read_bytes, write_bytes;

	uint64_t processes, peak, killed, survivors, cgroup_escapes;
	struct process_record *records; /* owned */
	size_t record_count, autopsy_count;
	uint64_t records_dropped;
	struct autopsy_row *autopsy; /* owned */
	struct output_record out, err_;
	struct result_limit limits[LIMIT__COUNT];
	struct denied denied;
	char tier_sentence[512];
	struct tier_clause clauses[RESULT_CLAUSES_MAX];
	size_t clause_count;
};

void result_init(struct result *r);
void result_done(struct result *r);
/* New reference or NULL. */
json_t *result_json(const struct result *r);
json_t *result_clauses_json(const struct result *r); /* of the tier; new reference or NULL */

/* Adds a clause; detail_fmt may be NULL; when full the last one's detail becomes "more clauses". */
void result_clause(struct result *r, const char *capability, const char *mechanism, bool listed,
		   bool attempted, bool enforced, const char *detail_fmt, ...)
	__attribute__((format(printf, 7, 8)));
/* Renders tier_sentence, once, at launch (contract 77). What is not enforced says so, and why. */
void result_sentence(struct result *r);

/* Cuts to min(512, max) bytes on a character boundary (contract 11). */
void result_diagnostic(struct result *r, uint64_t max_bytes, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Exit status of sbxctl for this result (DESIGN 8): 124, 125, 126, 127, 137, 128+N or the command's own. */
int result_exit_status(const struct result *r);
/* The same from a result that was read back; a launch errno is not in the record, so could_not_run is 125. */
int result_json_exit_status(const json_t *result);

/* "2026-01-31T12:00:00.000000001Z" in UTC; buf holds RESULT_TIME_LEN bytes. */
#define RESULT_TIME_LEN 80
void result_time_text(int64_t unix_ns, char buf[RESULT_TIME_LEN]);

#endif
