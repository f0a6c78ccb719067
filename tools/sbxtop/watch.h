/* SPDX-License-Identifier: Apache-2.0 */
/* watch: a survey that feeds a model. Owns both. */
#ifndef SBXTOP_WATCH_H
#define SBXTOP_WATCH_H

#include "model.h"
#include "serve/survey.h"

struct watch {
	struct survey *survey;
	struct model *model;
	const struct glance **runs; /* of the last look; owned */
	size_t room;
	struct err err; /* of the last look; code 0: none */
};

int watch_open(struct watch *w, struct err *err);
void watch_close(struct watch *w);
/* A look into the model; what goes wrong is in w->err, and the screen says so. */
void watch_look(struct watch *w);
/* Whom the next look asks more: all, or the runs of `rows` lines from the model's top on, and of the selected one
 * also its denials. */
void watch_want_all(struct watch *w);
void watch_want_shown(struct watch *w, size_t rows, bool denials);

#endif
