/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/requests.h"

#include <errno.h>

static int gone_or(int rc, struct err *err, const char *what)
{
	if (rc == -ESRCH)
		return err_say(err, ERR_NOT_FOUND, rc, "the run has already ended");
	return rc ? err_set(err, rc, "%s the run", what) : 0;
}

static int do_stop(struct run *run, const struct request *request, struct err *err)
{
	return gone_or(run_stop(run, request->has_grace ? &request->grace_ns : NULL), err, "stop");
}

static int do_terminate(struct run *run, const struct request *request, struct err *err)
{
	(void)request;
	return gone_or(run_terminate(run), err, "terminate");
}

static int do_cancel(struct run *run, const struct request *request, struct err *err)
{
	(void)request;
	return gone_or(run_cancel(run), err, "cancel");
}

static int do_signal(struct run *run, const struct request *request, struct err *err)
{
	int rc = run_signal(run, request->signal, request->tree);

	return gone_or(rc < 0 ? rc : 0, err, "signal"); /* else how many got it */
}

static int do_freeze(struct run *run, const struct request *request, struct err *err)
{
	(void)request;
	return gone_or(run_freeze(run, true), err, "freeze");
}

static int do_thaw(struct run *run, const struct request *request, struct err *err)
{
	(void)request;
	return gone_or(run_freeze(run, false), err, "thaw");
}

static int do_detach(struct run *run, const struct request *request, struct err *err)
{
	(void)request;
	return run_detach(run, err);
}

static int do_update(struct run *run, const struct request *request, struct err *err)
{
	struct spec changes;
	int rc;

	spec_init(&changes);
	for (int i = 0; i < LIMIT__COUNT; i++)
		if (request->has_limit[i])
			changes.limits[i] = (struct spec_limit){ .origin = ORIGIN_EXPLICIT,
								 .value = request->limits[i] };
	rc = run_update(run, &changes, err);
	spec_done(&changes);
	return rc;
}

static int (*const actions[REQUEST__COUNT])(struct run *run, const struct request *request,
					    struct err *err) = {
	[REQUEST_STOP] = do_stop,     [REQUEST_TERMINATE] = do_terminate,
	[REQUEST_CANCEL] = do_cancel, [REQUEST_SIGNAL] = do_signal,
	[REQUEST_FREEZE] = do_freeze, [REQUEST_THAW] = do_thaw,
	[REQUEST_UPDATE] = do_update, [REQUEST_DETACH] = do_detach,
};

static json_t *denials_of(struct run *run, size_t most)
{
	return denied_json(run_denied(run), most);
}

static json_t *processes_of(struct run *run, size_t most)
{
	return run_processes(run, most);
}

/* As many of the oldest as one message holds. */
static int list(struct run *run, json_t *(*of)(struct run *run, size_t most), const char *key,
		json_t **reply, struct err *err)
{
	for (size_t most = 512; most; most /= 2) {
		json_t *list = of(run, most);
		size_t size = list ? json_dumpb(list, NULL, 0, JSON_COMPACT) : 0;

		if (!list)
			break;
		if (size + 64 <= PROTOCOL_MAX) {
			*reply = json_pack("{s:b, s:o}", "ok", 1, key, list);
			return *reply ? 0 : err_set(err, -ENOMEM, "describe the %s", key);
		}
		json_decref(list);
	}
	return err_set(err, -ENOMEM, "describe the %s", key);
}

int requests_do(struct run *run, const struct request *request, json_t **reply, struct err *err)
{
	int rc = 0;

	if (request->op == REQUEST_STATUS) {
		*reply = json_pack("{s:b, s:o}", "ok", 1, "status", run_status(run));
		return *reply ? 0 : err_set(err, -ENOMEM, "describe the run");
	}
	if (request->op == REQUEST_WHY)
		return list(run, denials_of, "denials", reply, err);
	if (request->op == REQUEST_PROCESSES)
		return list(run, processes_of, "processes", reply, err);
	if (!actions[request->op])
		return err_set(err, -ENOSYS, "%s", request_table[request->op].name);
	rc = actions[request->op](run, request, err);
	if (rc)
		return rc;
	*reply = json_pack("{s:b}", "ok", 1);
	return *reply ? 0 : err_set(err, -ENOMEM, "answer");
}
