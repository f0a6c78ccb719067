/* SPDX-License-Identifier: Apache-2.0 */
#include "act.h"

#include <errno.h>
#include <unistd.h>

#include "run/sweep.h"
#include "serve/client.h"

#define PATIENCE_MS 1000

static int ask(struct rundir *d, const struct request *request, struct err *err)
{
	struct client c;
	int rc = client_open(&c, d, err);

	if (rc)
		return rc;
	c.timeout_ms = PATIENCE_MS;
	rc = client_call(&c, request, NULL, err);
	client_close(&c);
	return rc;
}

int act_on(const char *id, enum request_op op, uint64_t wall_ns, struct err *err)
{
	struct request request = { .op = op };
	struct rundir d;
	int rc = rundir_open(&d, id, err);

	if (rc)
		return rc;
	if (op == REQUEST_UPDATE) {
		request.has_limit[LIMIT_WALL] = true;
		request.limits[LIMIT_WALL] = wall_ns;
	}
	rc = ask(&d, &request, err);
	if (rc == -ETIMEDOUT && op == REQUEST_TERMINATE && geteuid() == 0)
		rc = sweep_kill(&d, err);
	rundir_close(&d);
	return rc;
}
