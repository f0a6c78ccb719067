/* SPDX-License-Identifier: Apache-2.0 */
/* target: the run that a command is about, as it stands: live, or ended with a result. */
#ifndef SBXCTL_TARGET_H
#define SBXCTL_TARGET_H

#include <stdbool.h>

#include "run/rundir.h"
#include "serve/client.h"

struct target {
	struct rundir dir;
	bool live; /* `client` is connected to its keeper */
	bool keeperless; /* attached, and goes on without one: `err` of target_ask says what is possible */
	struct client client;
};

/* Finds it and connects. A run whose keeper died is swept first: its tree is dead and its result written
 * afterwards. -EBUSY when a live one does not take connections. */
int target_open(struct target *t, const char *word, struct err *err);
void target_close(struct target *t);

/* A live one: asks, and waits for the reply. An ended one: ERR_NOT_FOUND, "has already ended". */
int target_ask(struct target *t, const struct request *request, json_t **reply, struct err *err);
/* Waits for its end, however long that takes. *status is the exit status of the run. */
int target_wait(struct target *t, int *status, struct err *err);
/* result.json of an ended one; NULL and *err when there is none. */
json_t *target_result(struct target *t, struct err *err);

#endif
