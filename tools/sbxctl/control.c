/* SPDX-License-Identifier: Apache-2.0 */
/* control: stop, kill, freeze, thaw, detach, update. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "args.h"
#include "base/num.h"
#include "policy/option.h"
#include "policy/option_set.h"
#include "print.h"
#include "run/sweep.h"
#include "target.h"
#include "usage.h"

#define SILENCE_MS 2000 /* after which kill acts over the head of a stopped keeper */

/* A keeper that is stopped or stuck cannot kill; root can without it. */
static int kill_over_its_head(struct target *t, struct err *err)
{
	int rc = sweep_kill(&t->dir, err);

	if (!rc)
		fprintf(stderr,
			"sbxctl kill: run '%s': its keeper does not answer; its processes were "
			"killed, its result is not written yet\n",
			t->dir.id);
	return rc;
}

/* An attached tree whose keeper died: what can be done without one. */
static int act_alone(struct target *t, const struct request *request, struct err *err)
{
	int rc;

	if (request->op == REQUEST_DETACH)
		return sweep_let_go(&t->dir, err);
	if (request->op != REQUEST_TERMINATE)
		return target_ask(t, request, NULL, err);
	rc = sweep_kill(&t->dir, err);
	return rc ? rc : sweep_run(&t->dir, err);
}

/* One run: asks, and for what ends it waits until it has. 0, or 1 after a line on stderr. */
static int act(const char *command, const char *word, const struct request *request, bool wait)
{
	struct err err = { 0 };
	struct target t;
	int rc = target_open(&t, word, &err), status;

	if (rc)
		return print_err(command, &err);
	if (request->op == REQUEST_TERMINATE)
		t.client.timeout_ms = SILENCE_MS;
	rc = t.keeperless ? act_alone(&t, request, &err) : target_ask(&t, request, NULL, &err);
	if (rc == -ETIMEDOUT && request->op == REQUEST_TERMINATE)
		rc = kill_over_its_head(&t, &err);
	else if (!rc && wait) {
		print_progress("waiting for the end of %s", t.dir.id);
		rc = target_wait(&t, &status, &err);
		print_progress(NULL);
	}
	target_close(&t);
	return rc ? print_err(command, &err) : 0;
}

static int act_on_all(const struct args *a, const struct request *request, bool wait)
{
	int failed = 0;

	for (int i = 0; i < a->words; i++)
		failed |= act(a->command->name, a->word[i], request, wait);
	return failed;
}

static int simple(int argc, char **argv, enum request_op op, bool wait)
{
	const struct request request = { .op = op };
	struct args a;
	int rc = args_parse(&a, argc, argv, 1, ARGS_WORDS_MAX);

	return rc ? rc : act_on_all(&a, &request, wait);
}

int cmd_stop(int argc, char **argv)
{
	struct request request = { .op = REQUEST_STOP };
	struct err err = { 0 };
	const char *grace;
	struct args a;
	int rc = args_parse(&a, argc, argv, 1, ARGS_WORDS_MAX);

	if (rc)
		return rc;
	grace = args_value(&a, "--timeout");
	request.has_grace = grace != NULL;
	if (grace && option_grace(grace, &request.grace_ns, &err) < 0)
		return usage_refuse("stop", "-t %s: %s", grace, err.text);
	return act_on_all(&a, &request, true);
}

int cmd_freeze(int argc, char **argv)
{
	return simple(argc, argv, REQUEST_FREEZE, false);
}

int cmd_thaw(int argc, char **argv)
{
	return simple(argc, argv, REQUEST_THAW, false);
}

int cmd_detach(int argc, char **argv)
{
	return simple(argc, argv, REQUEST_DETACH, true);
}

int cmd_kill(int argc, char **argv)
{
	struct request request = { .op = REQUEST_SIGNAL, .signal = SIGKILL, .tree = true };
	struct err err = { 0 };
	const char *name;
	struct args a;
	int rc = args_parse(&a, argc, argv, 1, ARGS_WORDS_MAX);

	if (rc)
		return rc;
	name = args_value(&a, "--signal");
	if (name && num_signal(name, &request.signal, &err))
		return usage_refuse_err(argv[0], &err);
	/* A tree that forks faster than it is signalled needs more than a signal. */
	if (request.signal == SIGKILL)
		request.op = REQUEST_TERMINATE;
	return act_on_all(&a, &request, request.op == REQUEST_TERMINATE);
}

static int collect_limits(const struct spec *spec, struct request *request)
{
	bool any = false;

	for (int i = 0; i < LIMIT__COUNT; i++) {
		const struct spec_limit *limit = &spec->limits[i];

		if (limit->origin == ORIGIN_WAIVED)
			return usage_refuse(
				"update",
				"%s none: a limit of a live run can be changed, not removed",
				limit_table[i].option);
		request->has_limit[i] = limit->origin == ORIGIN_EXPLICIT;
		request->limits[i] = limit->value;
		any |= request->has_limit[i];
	}
	return any ? 0 : usage_refuse("update", "which limit? see `sbxctl help update`");
}

/* Options may stand before and after the ID. */
static int parse_update(int argc, char **argv, struct spec *spec, const char **word)
{
	const unsigned int groups = 1U << GROUP_LIMITS;
	struct err err = { 0 };
	int used, more = 0;

	if (option_parse(spec, groups, argc - 1, argv + 1, &used, &err))
		return usage_refuse_err("update", &err);
	if (used + 1 >= argc)
		return usage_refuse("update", "usage: sbxctl update ID [limit options]");
	*word = argv[used + 1];
	if (option_parse(spec, groups, argc - used - 2, argv + used + 2, &more, &err))
		return usage_refuse_err("update", &err);
	if (used + 2 + more < argc)
		return usage_refuse("update", "unexpected '%s'; one run at a time",
				    argv[used + 2 + more]);
	return 0;
}

int cmd_update(int argc, char **argv)
{
	struct request request = { .op = REQUEST_UPDATE };
	const char *word = NULL;
	struct spec spec, untouched;
	int rc;

	spec_init(&spec);
	spec_init(&untouched);
	rc = parse_update(argc, argv, &spec, &word);
	if (!rc && (spec.preset || spec.kill_after_ns != untouched.kill_after_ns ||
		    spec.stop_signal != untouched.stop_signal))
		rc = usage_refuse("update",
				  "--limits, --kill-after and --signal are for a new run");
	if (!rc)
		rc = collect_limits(&spec, &request);
	spec_done(&untouched);
	spec_done(&spec);
	return rc ? rc : act("update", word, &request, false);
}
