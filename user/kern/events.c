/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/own.h"
#include "kern/half.h"
#include "kern/rings.h"

struct events {
	struct ring_buffer *rb;
	uint64_t id;
	void (*fn)(void *arg, const struct sbx_event *event);
	void *arg;
	unsigned int delivered, max;
};

#define STOP 1 /* ends ring_buffer__consume after the record at hand */

static int deliver(void *arg, void *data, size_t size)
{
	struct events *e = arg;
	const struct sbx_event *event = data;

	if (size < sizeof(*event) || event->sandbox != e->id)
		return 0; /* of whoever had the slot before */
	e->fn(e->arg, event);
	e->delivered++;
	return e->max && e->delivered >= e->max ? -STOP : 0;
}

int events_open(struct kern *k, uint64_t id, void (*fn)(void *arg, const struct sbx_event *event),
		void *arg, struct events **out, struct err *err)
{
	struct sbx_sandbox row;
	own_fd ring = -1;
	struct events *e;
	int rc = kern_sandbox_read(k, id, &row);

	*out = NULL;
	if (!rc && row.ring == SBX_NO_RING)
		rc = -ENOENT;
	if (!rc)
		rc = half_fd(k, HALF_RINGS) < 0 ? half_fd(k, HALF_RINGS) : 0;
	if (!rc)
		ring = rings_get(k->fds[HALF_RINGS], row.ring);
	if (rc || ring < 0)
		return err_set(err, rc ? rc : ring, "open the event ring");
	e = calloc(1, sizeof(*e));
	if (!e)
		return err_set(err, -ENOMEM, "open the event ring");
	*e = (struct events){ .id = id, .fn = fn, .arg = arg };
	e->rb = ring_buffer__new(ring, deliver, e, NULL);
	if (!e->rb) {
		rc = -errno;
		free(e);
		return err_set(err, rc, "map the event ring");
	}
	ring_buffer__consume(e->rb); /* makes room */
	*out = e;
	return 0;
}

int events_fd(const struct events *e)
{
	return ring_buffer__epoll_fd(e->rb);
}

int events_consume(struct events *e, unsigned int max)
{
	int rc;

	e->delivered = 0;
	e->max = max;
	rc = ring_buffer__consume(e->rb);
	return rc < 0 && rc != -STOP ? rc : (int)e->delivered;
}

void events_close(struct events *e)
{
	if (!e)
		return;
	ring_buffer__free(e->rb);
	free(e);
}
