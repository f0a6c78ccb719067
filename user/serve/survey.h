/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey: every run that the caller may see, looked at again and again.
 *
 * As root from the kernel half and the groups, and of the runs that are wanted also what only their keepers
 * know (output, updated limits, denials); else from the keepers of the caller's own runs. A look never
 * waits for a keeper: answers are those that have come. Reads only; loads nothing, sweeps nothing.
 */
#ifndef SERVE_SURVEY_H
#define SERVE_SURVEY_H

#include "base/err.h"
#include "kern/view.h"
#include "run/glance.h"

#define SURVEY_SILENCE_NS 900000000ULL /* without an answer a keeper counts as silent */
#define SURVEY_ASKED_MAX 1024	       /* keepers that are spoken to at once, beyond: in turn */

struct survey;

int survey_new(struct survey **out, struct err *err);
void survey_free(struct survey *s);

enum {
	SURVEY_STATUS = 1 << 0,
	SURVEY_DENIALS = 1 << 1,
};
/* What is asked of a run's keeper from the next look on, until survey_want_none. An unknown id is ignored. */
void survey_want(struct survey *s, uint64_t run, unsigned int what);
void survey_want_none(struct survey *s);

/* One look. Errors are of the whole: the tables cannot be read. The old look stays then. */
int survey_look(struct survey *s, struct err *err);
/* Waits for the answers that are due, at most so long. Their figures are in the next look. */
void survey_settle(struct survey *s, unsigned int ms);

size_t survey_count(const struct survey *s);
/* By number, ascending; valid until the next look. */
const struct glance *survey_run(const struct survey *s, size_t i);
/* {total, dropped, complete, items} as the keeper told it last; NULL when it has not. Borrowed. */
const json_t *survey_denials(const struct survey *s, uint64_t run);
const struct view_processes *survey_processes(const struct survey *s);
/* Of a run, those that the keeper had no room to tell. */
uint64_t survey_processes_dropped(const struct survey *s);

#endif
