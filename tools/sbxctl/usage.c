/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "policy/capability.h"
#include "policy/option.h"
#include "policy/profile_builtin.h"
#include "policy/profile_key.h"
#include "policy/spec_environ.h"
#include "column.h"
#include "usage.h"

#define HELP_COLUMN 34

void usage_all(FILE *out)
{
	fprintf(out, "usage: sbxctl COMMAND [ARG...]\n\n");
	for (size_t i = 0; i < command_count; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\n`sbxctl help COMMAND` says more; the man page is sbxctl(1).\n");
}

static void row(FILE *out, const char *left, const char *help)
{
	if (strlen(left) < HELP_COLUMN - 1)
		fprintf(out, "  %-*s%s\n", HELP_COLUMN - 2, left, help);
	else
		fprintf(out, "  %s\n%*s%s\n", left, HELP_COLUMN, "", help);
}

/* "-t, --timeout DUR", "--stdin[=inherit|FILE]". */
static void option_form(const struct option *o, char *buf, size_t size)
{
	const char letter[] = { '-', o->letter, '\0' };
	bool optional = o->arg && o->arg[0] == '[';

	snprintf(buf, size, "%s%s%s%s%s", o->letter ? letter : "", o->letter && o->name ? ", " : "",
		 o->name ? o->name : "",
		 optional ? "[="
		 : o->arg ? " "
			  : "",
		 optional ? o->arg + 1
		 : o->arg ? o->arg
			  : "");
}

/* An option that this build refuses is in the table to be named, not to be offered. */
static bool offered(const struct option *o, unsigned int groups, int group)
{
	return !o->refused && (int)o->group == group && groups & 1U << group;
}

static void options(FILE *out, unsigned int groups)
{
	for (int group = 0; group < GROUP__COUNT; group++) {
		bool any = false;

		for (size_t i = 0; i < run_option_count; i++) {
			char form[96];

			if (!offered(&run_options[i], groups, group))
				continue;
			if (!any)
				fprintf(out, "\n%s:\n",
					option_group_name((enum option_group)group));
			any = true;
			option_form(&run_options[i], form, sizeof(form));
			row(out, form, run_options[i].help);
		}
	}
}

void usage_command(FILE *out, const struct command *command)
{
	fprintf(out, "usage: sbxctl %s%s%s\n%s\n", command->name, *command->synopsis ? " " : "",
		command->synopsis, command->help);
	if (command->flags[0].name)
		fputc('\n', out);
	for (const struct command_flag *flag = command->flags; flag->name; flag++) {
		char form[96];

		snprintf(form, sizeof(form), "%s%s%s", flag->name, flag->arg ? " " : "",
			 flag->arg ? flag->arg : "");
		row(out, form, flag->help);
	}
	options(out, command->option_groups);
}

static void table_options(FILE *out)
{
	for (int group = 0; group < GROUP__COUNT; group++) {
		bool any = false;

		for (size_t i = 0; i < run_option_count; i++) {
			const struct option *o = &run_options[i];
			char form[96];

			if (!offered(o, OPTION_GROUPS_ALL, group))
				continue;
			if (!any)
				fprintf(out, "group\t%s\n",
					option_group_name((enum option_group)group));
			any = true;
			option_form(o, form, sizeof(form));
			fprintf(out, "option\t%s\t%.1s\t%s\t%s\t%s\t%d\n", o->name ? o->name : "",
				o->letter ? &o->letter : "", o->arg ? o->arg : "", form, o->help,
				group);
		}
	}
}

static void table_presets(FILE *out)
{
	const char *name;

	for (size_t i = 0; (name = limit_preset_name(i)); i++) {
		struct spec_limit limits[LIMIT__COUNT] = { 0 };
		char value[40];

		limit_apply_preset(limits, name, NULL);
		for (int id = 0; id < LIMIT__COUNT; id++) {
			limit_text((enum limit_id)id, limits[id].value, value, sizeof(value));
			if (limit_in_force(&limits[id]))
				fprintf(out, "preset\t%s\t%s\t%s\n", name, limit_table[id].option,
					value);
		}
	}
}

static void table_profiles(FILE *out)
{
	for (size_t i = 0; i < profile_builtin_count; i++)
		fprintf(out, "profile\t%s\t%s\n", profile_builtins[i].name,
			profile_builtins[i].help);
	for (size_t i = 0; i < profile_key_count; i++)
		if (!profile_keys[i].refused)
			fprintf(out, "key\t%s\t%s\t%s\t%s\n", profile_keys[i].section,
				profile_keys[i].name, profile_keys[i].arg, profile_keys[i].help);
}

static void table_words(FILE *out)
{
	for (size_t i = 0; i < column_count; i++)
		fprintf(out, "column\t%s\t%s\n", columns[i].name, columns[i].help);
	for (size_t i = 0; i < spec_environ_passed_count; i++)
		fprintf(out, "passed\t%s\n", spec_environ_passed[i]);
	for (int i = 0; i < CAP__COUNT; i++)
		fprintf(out, "capability\t%s\n", capability_table[i].name);
}

void usage_table(FILE *out)
{
	for (size_t i = 0; i < command_count; i++) {
		const struct command *c = &commands[i];

		fprintf(out, "command\t%s\t%s\t%s\t%u\n", c->name, c->synopsis, c->help,
			c->option_groups);
		for (const struct command_flag *flag = c->flags; flag->name; flag++)
			fprintf(out, "flag\t%s\t%s\t%s\t%s\n", c->name, flag->name,
				flag->arg ? flag->arg : "", flag->help);
	}
	table_options(out);
	table_presets(out);
	table_profiles(out);
	table_words(out);
}

int usage_refuse(const char *command, const char *fmt, ...)
{
	const struct command *known = command ? command_find(command) : NULL;
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_line(text);
	fprintf(stderr, "sbxctl%s%s: %s\n", command ? " " : "", command ? command : "", text);
	return known ? known->misuse : SBXCTL_EXIT_MISUSE;
}

int usage_refuse_err(const char *command, const struct err *err)
{
	return usage_refuse(command, "%s", err->text);
}
