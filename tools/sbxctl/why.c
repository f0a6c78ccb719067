/* SPDX-License-Identifier: Apache-2.0 */
/* why: what policy has refused to a run, and the option that would have allowed it. Also from inside. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "print.h"
#include "target.h"
#include "usage.h"

static const char *text_of(const json_t *item, const char *key)
{
	const char *text = json_string_value(json_object_get(item, key));

	return text ? text : "";
}

static json_int_t number_of(const json_t *item, const char *key)
{
	return json_integer_value(json_object_get(item, key));
}

static void print_item(const json_t *item)
{
	json_int_t count = number_of(item, "count");

	printf("%s ", text_of(item, "act"));
	print_text(stdout, text_of(item, "object"));
	if (text_of(item, "name")[0]) {
		fputs(" (", stdout);
		print_text(stdout, text_of(item, "name"));
		putchar(')');
	}
	printf(": %s, ", text_of(item, "errno"));
	if (count > 1)
		printf("%lld times, first ", (long long)count);
	printf("by %s (pid %lld)", text_of(item, "comm"), (long long)number_of(item, "pid"));
	if (!strcmp(text_of(item, "source"), "syscall"))
		fputs(", as seen at the end of the system call", stdout);
	if (text_of(item, "rule")[0]) {
		fputs("\n    rule: ", stdout);
		print_text(stdout, text_of(item, "rule"));
	}
	if (text_of(item, "hint")[0]) {
		fputs("\n    allowed by: ", stdout);
		print_text(stdout, text_of(item, "hint"));
	}
	putchar('\n');
}

static int print_denials(const json_t *denials)
{
	json_int_t shown = 0, total = number_of(denials, "total");
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(denials, "items"), i, item) {
		print_item(item);
		shown += number_of(item, "count");
	}
	if (!total)
		puts("nothing was refused");
	else if (shown < total)
		printf("and %lld more refusals that are not listed\n", (long long)(total - shown));
	if (json_is_false(json_object_get(denials, "complete")))
		puts("on this host not every refusal is seen");
	return 0;
}

/* A command is faster than the socket it asks at: for its own run it waits a moment. */
static int open_own(struct target *t, const char *id, struct err *err)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int rc = target_open(t, id, err);

	for (int i = 0; rc && err->category == ERR_NOT_FOUND && i < 200; i++) {
		nanosleep(&pause, NULL);
		rc = target_open(t, id, err);
	}
	return rc;
}

/* New reference. */
static json_t *denials_of(const char *word, bool own, struct err *err)
{
	const struct request request = { .op = REQUEST_WHY };
	json_t *whole = NULL, *denials;
	struct target t;

	if (own ? open_own(&t, word, err) : target_open(&t, word, err))
		return NULL;
	if (t.live)
		target_ask(&t, &request, &whole, err);
	else
		whole = target_result(&t, err);
	target_close(&t);
	denials = json_incref(json_object_get(whole, "denials"));
	json_decref(whole);
	return denials;
}

int cmd_why(int argc, char **argv)
{
	const char *word = "self";
	struct err err = { 0 };
	json_t *denials;
	struct args a;
	bool own;
	int rc = args_parse(&a, argc, argv, 0, 1);

	if (rc)
		return rc;
	if (a.words)
		word = a.word[0];
	own = !strcmp(word, "self");
	if (own)
		word = getenv("SBX_ID");
	if (!word)
		return usage_refuse(argv[0], "not inside a run (SBX_ID is not set): name one");
	denials = denials_of(word, own, &err);
	if (!denials)
		return print_err(argv[0], &err);
	rc = args_given(&a, "--json") ? print_json(stdout, denials, false) : print_denials(denials);
	json_decref(denials);
	return rc ? 1 : 0;
}
