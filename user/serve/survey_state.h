/* SPDX-License-Identifier: Apache-2.0 */
/* survey_state: the inside of a survey. Shared by survey.c and its parts, by nobody else. */
#ifndef SERVE_SURVEY_STATE_H
#define SERVE_SURVEY_STATE_H

#include "serve/client.h"
#include "serve/survey.h"

struct survey_run {
	struct glance glance;
	bool in_half; /* its row was there at this look */
	bool gone;
	bool has_meta;
	unsigned int meta_tries;
	struct cgroup_view groups;
	struct cgroup_figures figures;
	unsigned int want;

	struct client keeper; /* fd -1: not connected */
	unsigned int due;     /* answers that have not come */
	uint64_t asked_ns, told_ns;
	bool keeper_dead;
	json_t *status, *processes, *denials; /* owned: last answers */
};

struct survey {
	struct kern *kern;
	struct survey_run *runs; /* by number, as far as `ordered`; behind are new ones */
	size_t count, ordered, room;
	struct view_processes processes;
	uint64_t processes_dropped;
	uint64_t now_ns, listed_ns;
	struct timespec top_changed;
	unsigned int looks;
	size_t turn;
	char *buf; /* PROTOCOL_MAX */
};

struct survey_run *survey_find(struct survey *s, uint64_t number);

/* What has come from keepers. */
void survey_hear(struct survey *s);
/* Asks those that are wanted and have answered what they were asked. */
void survey_ask(struct survey *s);
/* What the keeper told, when it is not too old, and what its silence means. */
void survey_told(const struct survey *s, struct survey_run *r);
/* The processes of a run that is not in our half, as its keeper tells them. */
int survey_told_processes(struct survey *s, const struct survey_run *r);
void survey_hang_up(struct survey_run *r);

#endif
