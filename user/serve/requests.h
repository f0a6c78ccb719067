/* SPDX-License-Identifier: Apache-2.0 */
/* requests: the operations on one run that are answered at once. Who may ask is the server's question. */
#ifndef SERVE_REQUESTS_H
#define SERVE_REQUESTS_H

#include "run/run.h"
#include "serve/protocol.h"

/* Does it; *reply is a new reference. Errors: ERR_NOT_FOUND when the run has already ended, and what the operation says.
 * wait, logs and events are not of this kind: -ENOSYS. */
int requests_do(struct run *run, const struct request *request, json_t **reply, struct err *err);

#endif
