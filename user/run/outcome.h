/* SPDX-License-Identifier: Apache-2.0 */
/* outcome: how a run ended and who ended it, as closed lists with their names. Pure. */
#ifndef RUN_OUTCOME_H
#define RUN_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

enum outcome {
	OUTCOME_UNKNOWN,
	OUTCOME_EXITED,
	OUTCOME_SIGNALED,
	OUTCOME_LIMIT_EXCEEDED,
	OUTCOME_COULD_NOT_RUN,
	OUTCOME_CANCELLED,
	OUTCOME_OWNER_EXITED,
	OUTCOME_STOPPED,
	OUTCOME_INTERNAL_ERROR,
	OUTCOME_DETACHED, /* attached, and let go alive */
};

enum killed_by {
	KILLED_BY_NONE,
	KILLED_BY_WALL,
	KILLED_BY_IDLE,
	KILLED_BY_CPU_TIME,
	KILLED_BY_MEMORY,
	KILLED_BY_EXECS,
	KILLED_BY_DEPTH,
	KILLED_BY_OUTPUT,
	KILLED_BY_OWNER,
	KILLED_BY_CANCEL,
	KILLED_BY_STOP,
	KILLED_BY_TERMINATE,
	KILLED_BY_ANCESTOR,
	KILLED_BY_SIGNAL,
	KILLED_BY_EXTERNAL,
};
const char *outcome_name(enum outcome outcome);
const char *killed_by_name(enum killed_by killed_by); /* NULL for NONE */
/* Of a record that was read back; what is not in the list is UNKNOWN or NONE. `name` may be NULL. */
enum outcome outcome_find(const char *name);
enum killed_by killed_by_find(const char *name);

/* Why it ends; the first one said wins. */
struct run_cause {
	bool fixed;
	enum outcome outcome;
	enum killed_by killed_by;
	int limit; /* enum limit_id or -1 */
	uint64_t actual;
	int signal; /* forwarded signal, 0: none */
	uint64_t at_ns;
};

#endif
