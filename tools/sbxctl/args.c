/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <string.h>

#include "base/text.h"
#include "usage.h"

/* "-a, --all": the long name, and the letter where there is one. */
static const char *long_name(const struct command_flag *flag)
{
	const char *comma = strstr(flag->name, ", ");

	return comma ? comma + 2 : flag->name;
}

static char letter(const struct command_flag *flag)
{
	return flag->name[1] != '-' ? flag->name[1] : 0;
}

static int find_long(const struct command *c, const char *name, size_t len)
{
	for (int i = 0; c->flags[i].name; i++) {
		const char *its = long_name(&c->flags[i]);

		if (strlen(its) == len && !strncmp(its, name, len))
			return i;
	}
	return -1;
}

static int find_letter(const struct command *c, char wanted)
{
	for (int i = 0; c->flags[i].name; i++)
		if (letter(&c->flags[i]) == wanted)
			return i;
	return -1;
}

static int unknown(const struct command *c, const char *arg)
{
	const char *names[COMMAND_FLAGS_MAX], *nearest;
	size_t count = 0;

	for (; c->flags[count].name; count++)
		names[count] = long_name(&c->flags[count]);
	nearest = text_nearest(arg, names, count);
	if (nearest)
		return usage_refuse(c->name, "unknown option '%s'; did you mean %s?", arg, nearest);
	return usage_refuse(c->name, "unknown option '%s'; see `sbxctl help %s`", arg, c->name);
}

/* Stores flag `i`; `inline_value` is what stood in the same argument. */
static int take(struct args *a, int i, const char *inline_value, char **argv, int argc, int *at)
{
	const struct command_flag *flag = &a->command->flags[i];
	const char *value = inline_value;

	if (a->value[i])
		return usage_refuse(a->command->name, "%s is given twice", long_name(flag));
	if (!flag->arg && value)
		return usage_refuse(a->command->name, "%s takes no value", long_name(flag));
	if (flag->arg && !value && *at + 1 < argc)
		value = argv[++*at];
	if (flag->arg && !value)
		return usage_refuse(a->command->name, "%s needs a value: %s", long_name(flag),
				    flag->arg);
	a->value[i] = flag->arg ? value : "";
	return 0;
}

static int take_long(struct args *a, int argc, char **argv, int *at)
{
	char *arg = argv[*at], *equals = strchr(arg, '=');
	int i = find_long(a->command, arg, equals ? (size_t)(equals - arg) : strlen(arg));

	if (i < 0)
		return unknown(a->command, arg);
	return take(a, i, equals ? equals + 1 : NULL, argv, argc, at);
}

static int take_letters(struct args *a, int argc, char **argv, int *at)
{
	char *arg = argv[*at];

	for (char *p = arg + 1; *p; p++) {
		int i = find_letter(a->command, *p), rc;

		if (i < 0)
			return unknown(a->command, arg);
		if (a->command->flags[i].arg)
			return take(a, i, p[1] ? p + 1 : NULL, argv, argc, at);
		rc = take(a, i, NULL, argv, argc, at);
		if (rc)
			return rc;
	}
	return 0;
}

static int take_word(struct args *a, char *word, int max_words)
{
	if (a->words >= max_words)
		return usage_refuse(a->command->name, "unexpected '%s'; usage: sbxctl %s %s", word,
				    a->command->name, a->command->synopsis);
	a->word[a->words++] = word;
	return 0;
}

int args_parse(struct args *a, int argc, char **argv, int min_words, int max_words)
{
	bool flags = true;
	int rc = 0;

	*a = (struct args){ .command = command_find(argv[0]) };
	for (int at = 1; !rc && at < argc; at++) {
		char *arg = argv[at];

		if (flags && !strcmp(arg, "--"))
			flags = false;
		else if (flags && arg[0] == '-' && arg[1] == '-')
			rc = take_long(a, argc, argv, &at);
		else if (flags && arg[0] == '-' && arg[1])
			rc = take_letters(a, argc, argv, &at);
		else
			rc = take_word(a, arg, max_words);
	}
	if (!rc && a->words < min_words)
		rc = usage_refuse(a->command->name, "usage: sbxctl %s %s", a->command->name,
				  a->command->synopsis);
	return rc;
}

const char *args_value(const struct args *a, const char *name)
{
	int i = find_long(a->command, name, strlen(name));

	return i < 0 ? NULL : a->value[i];
}

bool args_given(const struct args *a, const char *name)
{
	return args_value(a, name) != NULL;
}
