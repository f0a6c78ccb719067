/* SPDX-License-Identifier: Apache-2.0 */
/* The whole way from a profile's text to a spec. Behind a NUL byte: the text of the profile "base", which the
 * first may extend, beside the built-in ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "policy/profile_builtin.h"
#include "policy/profile_chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const char *base;
	size_t len;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int find(void *arg, const char *name, char **text, size_t *len, char **source,
		struct err *err)
{
	const struct profile_builtin *builtin = profile_builtin_find(name);
	const struct input *input = arg;
	bool base = !strcmp(name, "base");

	(void)err;
	if (!builtin && !base)
		return -ENOENT;
	*len = base ? input->len : strlen(builtin->text);
	*text = malloc(*len + 1);
	must(*text);
	memcpy(*text, base ? input->base : builtin->text, *len);
	*source = base ? strdup("/base") : NULL;
	return 0;
}

static void check(const struct spec *spec)
{
	for (size_t i = 0; i < spec->file_count; i++)
		must(*spec->files[i].path && *spec->files[i].origin && spec->files[i].level &&
		     spec->files[i].level < FILE_LEVEL_COMMAND_LINE);
	for (int id = 0; id < LIMIT__COUNT; id++)
		must(!limit_in_force(&spec->limits[id]) || id == LIMIT_SWAP ||
		     spec->limits[id].value);
	must(spec->kill_after_set == false && spec->spill_at_set == false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t len = nul ? (size_t)(nul - data) : size;
	struct input input = { nul ? (const char *)nul + 1 : "", nul ? size - len - 1 : 0 };
	struct profile_chain chain;
	struct err err = { 0 };
	struct spec spec;
	int r;

	spec_init(&spec);
	r = profile_chain_read_text(&chain, "x", "/x", size ? (const char *)data : "", len, find,
				    &input, &err);
	if (!r) {
		r = profile_chain_apply(&chain, 1ULL << 34, &spec, &err);
		profile_chain_done(&chain);
	}
	if (r < 0)
		must(*err.text && !strchr(err.text, '\n') &&
		     text_valid(err.text, strlen(err.text)));
	else
		check(&spec);
	spec_done(&spec);
	return 0;
}
