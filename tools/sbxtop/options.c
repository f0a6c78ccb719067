/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "keys.h"

#define DELAY_MIN_NS 100000000ULL
#define DELAY_DEFAULT_NS 1000000000ULL
#define HELP_COLUMN 26

static int set_delay(struct options *o, const char *value, struct err *err)
{
	if (num_duration(value, &o->delay_ns, err))
		return -EINVAL;
	if (o->delay_ns < DELAY_MIN_NS)
		return err_say(err, ERR_VALIDATION, -EINVAL, "%s: at least 100ms", value);
	return 0;
}

static int set_frames(struct options *o, const char *value, struct err *err)
{
	uint64_t n;

	if (num_count(value, &n, err))
		return -EINVAL;
	o->frames = (unsigned long)n;
	return 0;
}

static int set_batch(struct options *o, const char *value, struct err *err)
{
	(void)value, (void)err;
	o->batch = true;
	return 0;
}

static int set_once(struct options *o, const char *value, struct err *err)
{
	o->frames = 1;
	return set_batch(o, value, err);
}

static int set_json(struct options *o, const char *value, struct err *err)
{
	o->json = true;
	return set_batch(o, value, err);
}

static int set_id(struct options *o, const char *value, struct err *err)
{
	(void)err;
	o->id = value;
	return 0;
}

static int set_scope(struct options *o, const char *value, struct err *err)
{
	(void)err;
	o->scope = value;
	return 0;
}

static int set_filter(struct options *o, const char *value, struct err *err)
{
	(void)err;
	o->filter = value;
	return 0;
}

static int set_sort(struct options *o, const char *value, struct err *err)
{
	return column_list(value, &o->sort, 1, err) < 0 ? -EINVAL : 0;
}

static int set_monochrome(struct options *o, const char *value, struct err *err)
{
	(void)value, (void)err;
	o->monochrome = true;
	return 0;
}

static int set_help(struct options *o, const char *value, struct err *err)
{
	(void)value, (void)err;
	o->help = true;
	return 0;
}

static int set_version(struct options *o, const char *value, struct err *err)
{
	(void)value, (void)err;
	o->version = true;
	return 0;
}

static int set_table(struct options *o, const char *value, struct err *err)
{
	(void)value, (void)err;
	o->table = true;
	return 0;
}

static const struct option_row {
	char letter;
	const char *name, *arg;
	int (*set)(struct options *o, const char *value, struct err *err);
	const char *help; /* NULL: for the build alone */
} rows[] = {
	{ 'd', "--delay", "SECONDS", set_delay,
	  "time between two looks (default 1, at least 0.1)" },
	{ 'b', "--batch", NULL, set_batch, "frames as text on stdout instead of a screen" },
	{ 'n', "--frames", "N", set_frames, "end after so many frames" },
	{ '1', "--once", NULL, set_once, "one frame as text, and end" },
	{ 'j', "--json", NULL, set_json, "frames as JSON objects, one a line (implies --batch)" },
	{ 'i', "--id", "ID", set_id,
	  "only this run, by its id or the beginning of one, and those inside it" },
	{ 0, "--scope", "NAME", set_scope, "only the runs of this scope" },
	{ 'f', "--filter", "TEXT", set_filter,
	  "only runs with this text in id, name, command, owner, state or a process" },
	{ 's', "--sort", "COLUMN", set_sort, "sort by this column, the largest first" },
	{ 'm', "--monochrome", NULL, set_monochrome, "no colours, as with NO_COLOR set" },
	{ 'h', "--help", NULL, set_help, "say this" },
	{ 'V', "--version", NULL, set_version, "say the version" },
	{ 0, "--table", NULL, set_table, NULL },
};
#define ROWS (sizeof(rows) / sizeof(*rows))

static int refuse(struct err *err, const char *what, const char *arg)
{
	const char *names[ROWS], *nearest;

	for (size_t i = 0; i < ROWS; i++)
		names[i] = rows[i].name;
	nearest = text_nearest(arg, names, ROWS);
	return err_say(err, ERR_VALIDATION, -EINVAL, "%s '%s'%s%s%s; see sbxtop --help", what, arg,
		       nearest ? "; did you mean " : "", nearest ? nearest : "",
		       nearest ? "?" : "");
}

static const struct option_row *find(const char *arg, size_t len)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (len == strlen(rows[i].name) && !strncmp(rows[i].name, arg, len))
			return &rows[i];
		if (len == 2 && arg[1] != '-' && rows[i].letter == arg[1])
			return &rows[i];
	}
	return NULL;
}

/* `value` is what stood in the same argument, NULL for nothing. */
static int set(struct options *o, const struct option_row *row, const char *value, int argc,
	       char **argv, int *at, struct err *err)
{
	int rc;

	if (!row->arg && value)
		return err_say(err, ERR_VALIDATION, -EINVAL, "%s takes no value", row->name);
	if (row->arg && !value && *at + 1 < argc)
		value = argv[++*at];
	if (row->arg && !value)
		return err_say(err, ERR_VALIDATION, -EINVAL, "%s needs a value: %s", row->name,
			       row->arg);
	rc = row->set(o, value, err);
	return rc ? err_prefix(err, "%s", row->name), rc : 0;
}

static int take_long(struct options *o, int argc, char **argv, int *at, struct err *err)
{
	const char *arg = argv[*at], *equals = strchr(arg, '=');
	const struct option_row *row = find(arg, equals ? (size_t)(equals - arg) : strlen(arg));

	if (!row)
		return refuse(err, "unknown option", arg);
	return set(o, row, equals ? equals + 1 : NULL, argc, argv, at, err);
}

/* "-bn2": letters, of which the last may have a value. */
static int take_letters(struct options *o, int argc, char **argv, int *at, struct err *err)
{
	int rc = 0;

	for (const char *p = argv[*at] + 1; !rc && *p; p++) {
		const char letter[] = { '-', *p, 0 };
		const struct option_row *row = find(letter, 2);

		if (!row)
			return refuse(err, "unknown option", letter);
		if (row->arg)
			return set(o, row, p[1] ? p + 1 : NULL, argc, argv, at, err);
		rc = set(o, row, NULL, argc, argv, at, err);
	}
	return rc;
}

int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
	int rc = 0;

	*o = (struct options){ .delay_ns = DELAY_DEFAULT_NS };
	for (int at = 1; !rc && at < argc; at++) {
		if (argv[at][0] != '-' || !argv[at][1])
			return refuse(err, "unexpected argument", argv[at]);
		rc = argv[at][1] == '-' ? take_long(o, argc, argv, &at, err)
					: take_letters(o, argc, argv, &at, err);
	}
	if (!rc && o->frames && !o->batch)
		o->batch = true;
	return rc;
}

static void form_of(const struct option_row *row, char *buf, size_t size)
{
	const char letter[] = { '-', row->letter, 0 };

	snprintf(buf, size, "%s%s%s%s%s", row->letter ? letter : "", row->letter ? ", " : "",
		 row->name, row->arg ? " " : "", row->arg ? row->arg : "");
}

void options_usage(FILE *out)
{
	fputs("usage: sbxtop [OPTION...]\nlive runs of sbx and their processes, as a screen or as "
	      "frames of text\n\n",
	      out);
	for (size_t i = 0; i < ROWS; i++) {
		char form[64];

		form_of(&rows[i], form, sizeof(form));
		if (rows[i].help)
			fprintf(out, "  %-*s%s\n", HELP_COLUMN, form, rows[i].help);
	}
	fputs("\n`?` on the screen lists the keys; the man page is sbxtop(1).\n", out);
}

void options_table(FILE *out)
{
	for (size_t i = 0; i < ROWS; i++) {
		char form[64];

		form_of(&rows[i], form, sizeof(form));
		if (rows[i].help)
			fprintf(out, "option\t%s\t%.1s\t%s\t%s\t%s\n", rows[i].name,
				rows[i].letter ? &rows[i].letter : "",
				rows[i].arg ? rows[i].arg : "", form, rows[i].help);
	}
	for (size_t i = 0; i < column_count; i++)
		fprintf(out, "column\t%s\t%s\t%s\n", columns[i].name, columns[i].head,
			columns[i].help);
	keys_table(out);
}
