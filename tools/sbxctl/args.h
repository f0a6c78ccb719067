/* SPDX-License-Identifier: Apache-2.0 */
/* args: the arguments of a command that has flags of its own, read from its row in the command table. */
#ifndef SBXCTL_ARGS_H
#define SBXCTL_ARGS_H

#include <stdbool.h>

#include "commands.h"

#define ARGS_WORDS_MAX 64

struct args {
	const struct command *command;
	const char *value
		[COMMAND_FLAGS_MAX]; /* by flag; NULL: not given, "" for one without argument */
	char *word[ARGS_WORDS_MAX];
	int words;
};

/* Flags and words in any order, "--" ends the flags. 0, or the exit status of misuse after one line on stderr. */
int args_parse(struct args *a, int argc, char **argv, int min_words, int max_words);
/* By its long name, which must be in the table. */
const char *args_value(const struct args *a, const char *name);
bool args_given(const struct args *a, const char *name);

#endif
