/* SPDX-License-Identifier: Apache-2.0 */
/* events: the keeper's ring of fork, exec and exit records. Telemetry only; drops are in
 * sbx_sandbox.events_dropped. */
#ifndef KERN_EVENTS_H
#define KERN_EVENTS_H

#include "kern/kern.h"

struct events;

/* Opens the ring of sandbox `id`. Records of an earlier user of the slot are dropped, and those
 * of this one delivered, at once: open it before the root is there, lest a ring that was left
 * full drops the first records. */
int events_open(struct kern *k, uint64_t id, void (*fn)(void *arg, const struct sbx_event *event),
		void *arg, struct events **out, struct err *err);
/* Pollable descriptor (EPOLLIN). */
int events_fd(const struct events *e);
/* Delivers at most `max` records, 0: all that are there. Returns the number delivered or a
 * negative errno. */
int events_consume(struct events *e, unsigned int max);
void events_close(struct events *e);

#endif
