/* SPDX-License-Identifier: Apache-2.0 */
/* inspect: everything that is on record about one run, as JSON. Changes nothing. */
#include <sys/wait.h>

#include "args.h"
#include "kern/kern.h"
#include "print.h"
#include "serve/client.h"
#include "serve/registry.h"

static json_t *ask_status(const struct rundir *d)
{
	const struct request request = { .op = REQUEST_STATUS };
	json_t *reply = NULL, *status = NULL;
	struct client c;

	if (client_open(&c, d, NULL))
		return json_null();
	if (!client_call(&c, &request, &reply, NULL))
		status = json_incref(json_object_get(reply, "status"));
	json_decref(reply);
	client_close(&c);
	return status ? status : json_null();
}

/* The kernel half's row: it outlives every process of ours. */
static json_t *receipt(const struct rundir *d)
{
	struct sbx_sandbox row;
	struct kern *k = NULL;
	uint64_t id;
	int rc;

	if (kern_id_parse(d->id, &id) || kern_open(&k, NULL))
		return json_null();
	rc = kern_sandbox_read(k, id, &row);
	kern_close(k);
	if (rc)
		return json_null();

	int status = (int)row.root_status;
	bool ended = row.flags & SBX_ROOT_EXITED;

	return json_pack(
		"{s:b, s:o, s:o, s:b, s:b, s:I, s:I, s:I, s:I}", "root_exited", ended, "exit_code",
		ended && WIFEXITED(status) ? json_integer(WEXITSTATUS(status)) : json_null(),
		"signal",
		ended && WIFSIGNALED(status) ? json_integer(WTERMSIG(status)) : json_null(),
		"dying", !!(row.flags & SBX_DYING), "owner_died", !!(row.flags & SBX_OWNER_DIED),
		"live", (json_int_t)row.live_processes, "processes", (json_int_t)row.processes,
		"execs", (json_int_t)row.execs, "escapes", (json_int_t)row.escapes);
}

static json_t *file_or_null(const struct rundir *d, const char *name)
{
	json_t *value = rundir_read_json(d, name, NULL);

	return value ? value : json_null();
}

static json_t *describe(const struct rundir *d, enum rundir_state state)
{
	static const char *const states[] = {
		[RUNDIR_MAKING] = "starting",
		[RUNDIR_LIVE] = "live",
		[RUNDIR_ENDED] = "ended",
		[RUNDIR_DEAD] = "keeper_died",
	};
	json_t *status = state == RUNDIR_LIVE ? ask_status(d) : json_null();

	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "id", d->id, "state", states[state],
			 "directory", d->path, "status", status, "result",
			 file_or_null(d, "result.json"), "meta", file_or_null(d, "meta.json"),
			 "receipt", receipt(d));
}

int cmd_inspect(int argc, char **argv)
{
	enum rundir_state state;
	struct err err = { 0 };
	struct rundir d;
	struct args a;
	json_t *all;
	int rc = args_parse(&a, argc, argv, 1, 1);

	if (rc)
		return rc;
	if (registry_find(a.word[0], &d, &state, &err))
		return print_err(argv[0], &err);
	all = describe(&d, state);
	rundir_close(&d);
	rc = all ? print_json(stdout, all, true) : -1;
	json_decref(all);
	return rc ? 1 : 0;
}
