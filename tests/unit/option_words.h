/* SPDX-License-Identifier: Apache-2.0 */
/* option_words: run options as words, for the tests of the option table. Behind cmocka.h. */
#ifndef UNIT_OPTION_WORDS_H
#define UNIT_OPTION_WORDS_H

#include "policy/option.h"

#define ARGS_MAX 12

/* Parses words that end with NULL; returns the code, the words used, or fails the test. */
static inline int parse(struct spec *spec, const char *const *words, int *used, struct err *err)
{
	char *argv[ARGS_MAX + 1] = { NULL };
	int argc = 0;

	while (argc < ARGS_MAX && words[argc]) {
		argv[argc] = (char *)words[argc];
		argc++;
	}
	spec_init(spec);
	return option_parse(spec, OPTION_GROUPS_ALL, argc, argv, used, err);
}

static inline void parse_well(struct spec *spec, const char *const *words)
{
	struct err err = { 0 };
	int used;

	if (parse(spec, words, &used, &err) < 0)
		fail_msg("%s: %s", words[0], err.text);
}
#define PARSE(spec, ...) parse_well(spec, (const char *const[]){ __VA_ARGS__, NULL })

#endif
