/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <errno.h>
#include <time.h>

#include "run/result.h"
#include "run/sweep.h"
#include "serve/registry.h"

#define RETRY_PAUSE_NS (10 * 1000000)
#define RETRIES 200 /* two seconds: between a run's directory and its socket, or its last breath */

static void breathe(void)
{
	const struct timespec pause = { .tv_nsec = RETRY_PAUSE_NS };

	nanosleep(&pause, NULL);
}

/* 0 settled; 1 look again, it is between two states. */
static int settle(struct target *t, enum rundir_state state, struct err *err)
{
	int rc;

	switch (state) {
	case RUNDIR_ENDED:
		return 0;
	case RUNDIR_DEAD:
		rc = sweep_run(&t->dir, err);
		t->keeperless = rc == -EINPROGRESS;
		return rc == -EBUSY ? 1 : t->keeperless ? 0 : rc;
	case RUNDIR_LIVE:
		rc = client_open(&t->client, &t->dir, err);
		t->live = rc == 0;
		return rc == -ENOENT || rc == -ECONNREFUSED ? 1 : rc;
	case RUNDIR_MAKING:
		break;
	}
	return 1;
}

static int settle_soon(struct target *t, enum rundir_state state, struct err *err)
{
	int rc = settle(t, state, err);

	for (int i = 0; rc == 1 && i < RETRIES; i++) {
		breathe();
		rc = settle(t, rundir_state(&t->dir), err);
	}
	return rc == 1 ? err_say(err, ERR_BUSY, -EBUSY, "run '%s' does not answer", t->dir.id) : rc;
}

int target_open(struct target *t, const char *word, struct err *err)
{
	enum rundir_state state;
	int rc;

	*t = (struct target){ .client.fd = -1, .dir.fd = -1 };
	rc = registry_find(word, &t->dir, &state, err);
	if (rc)
		return rc;
	rc = settle_soon(t, state, err);
	if (rc)
		target_close(t);
	return rc;
}

void target_close(struct target *t)
{
	client_close(&t->client);
	rundir_close(&t->dir);
	t->live = false;
}

int target_ask(struct target *t, const struct request *request, json_t **reply, struct err *err)
{
	if (t->keeperless)
		return sweep_run(&t->dir, err);
	if (!t->live)
		return err_say(err, ERR_NOT_FOUND, -ESRCH, "run '%s' has already ended", t->dir.id);
	return client_call(&t->client, request, reply, err);
}

json_t *target_result(struct target *t, struct err *err)
{
	return rundir_read_json(&t->dir, "result.json", err);
}

static int status_of_ended(struct target *t, int *status, struct err *err)
{
	json_t *result = target_result(t, err);

	if (!result)
		return err->code;
	*status = result_json_exit_status(result);
	json_decref(result);
	return 0;
}

/* What the keeper says; *status stays -1 when it closes without a word. */
static int wait_live(struct target *t, int *status, struct err *err)
{
	const struct request request = { .op = REQUEST_WAIT };
	json_t *message = NULL, *number;
	int rc = client_send(&t->client, &request, err);

	if (!rc)
		rc = client_receive(&t->client, CLIENT_FOREVER, &message, err);
	if (rc <= 0)
		return rc == -EPIPE ? 0 : rc;
	rc = protocol_reply_error(message, err);
	number = json_object_get(message, "exit_status");
	if (!rc && json_is_integer(number))
		*status = (int)json_integer_value(number);
	json_decref(message);
	return rc;
}

int target_wait(struct target *t, int *status, struct err *err)
{
	int rc = 0;

	*status = -1;
	while (t->keeperless && sweep_run(&t->dir, NULL) == -EINPROGRESS)
		breathe();
	if (t->live)
		rc = wait_live(t, status, err);
	if (rc || *status >= 0)
		return rc;
	/* The keeper has gone without an answer: killed, or in the middle of ending. */
	client_close(&t->client);
	t->live = false;
	for (int i = 0; rundir_state(&t->dir) == RUNDIR_LIVE && i < RETRIES; i++)
		breathe();
	if (rundir_state(&t->dir) == RUNDIR_DEAD)
		rc = sweep_run(&t->dir, err);
	return rc && rc != -EBUSY ? rc : status_of_ended(t, status, err);
}
