/* SPDX-License-Identifier: Apache-2.0 */
/* The whole way from arguments to a spec, its digest and its environment. The input is the arguments,
 * each behind a newline; the same words are also the caller's environment. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "policy/option.h"
#include "policy/spec_environ.h"

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int split(char *text, char **words)
{
	int count = 0;

	for (char *at = text; at && count < WORDS_MAX;)
		words[count++] = strsep(&at, "\n");
	words[count] = NULL;
	return count;
}

/* What spec_check lets through keeps its invariants. */
static void check(const struct spec *spec, char *const *caller)
{
	static const struct spec_user user = { "u", "/home/u", "/bin/sh", "/u/bin", "/c" };
	const struct spec_limit *cap = &spec->limits[LIMIT_OUTPUT];
	char digest[65], again[65], **env = NULL;

	must(spec->argc || spec->shell);
	must(spec->preview_bytes && spec->preview_bytes <= spec->spill_at_bytes);
	must(!limit_in_force(cap) || spec->spill_at_bytes <= cap->value);
	must(spec->limits[LIMIT_WALL].origin != ORIGIN_UNSET);
	for (int id = 0; id < LIMIT__COUNT; id++)
		must(!limit_in_force(&spec->limits[id]) || id == LIMIT_SWAP ||
		     spec->limits[id].value);

	must(!spec_digest(spec, digest, NULL) && !spec_digest(spec, again, NULL));
	must(!strcmp(digest, again) && strlen(digest) == 64);
	if (!spec_environ(spec, caller, &user, "id", &env, NULL)) {
		must(!strcmp(spec_environ_get(env, "SBX_ID"), "id") &&
		     spec_environ_get(env, "PATH"));
		spec_environ_free(env);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *words[WORDS_MAX + 1];
	struct err err = { 0 };
	struct spec spec;
	int argc, used = -1, r;

	if (!text)
		return 0;
	argc = split(text, words);
	spec_init(&spec);
	r = option_parse(&spec, OPTION_GROUPS_ALL, argc, words, &used, &err);
	must(r < 0 || (used >= 0 && used <= argc));
	if (!r)
		r = spec_set_command(&spec, argc - used, words + used, &err);
	if (!r)
		r = spec_check(&spec, &err);
	if (r < 0)
		must(*err.text && !strchr(err.text, '\n') &&
		     text_valid(err.text, strlen(err.text)));
	else
		check(&spec, words);
	spec_done(&spec);
	free(text);
	return 0;
}
