/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sbxtop: what happens in sandboxes, live.
 *
 * Theory of operation: a survey (user/serve/survey) looks once a delay at every run the caller may see: the
 * tables of the kernel half and the groups as root, the keepers' sockets for what they alone know, and for
 * other users all. It never waits for a keeper and never walks /proc. A look feeds the model (model.c): order,
 * rates, folding, selection; no terminal, no clock. The view (view*.c) draws model and pane into a grid of
 * cells, pure; the screen (screen.c) is the only file that knows curses, and puts the grid on it. Keys come from
 * one table (keys.c) and go through the session (session.c), which acts on runs by asking their keepers, as
 * sbxctl does. Nothing depends on sbxtop: killing it changes nothing.
 */
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include "batch.h"
#include "options.h"
#include "sbxctl/print.h"
#include "sbxctl/usage.h"
#include "session.h"
#include "watch.h"

static int say(const struct err *err, int status)
{
	fputs("sbxtop: ", stderr);
	print_text(stderr, err->text);
	fputc('\n', stderr);
	return status;
}

static int set_up(struct watch *w, const struct options *o, struct err *err)
{
	int rc = watch_open(w, err);

	if (rc)
		return rc;
	w->model->only_id = o->id;
	w->model->only_scope = o->scope;
	if (o->filter)
		snprintf(w->model->filter, sizeof(w->model->filter), "%s", o->filter);
	if (o->sort) {
		w->model->sort = o->sort;
		w->model->reverse = false;
	}
	return 0;
}

static int show(const struct options *o)
{
	struct err err = { 0 };
	struct watch w;
	int status;

	if (set_up(&w, o, &err))
		return say(&err, 1);
	if (o->batch)
		status = batch_run(&w, o);
	else if (session_run(&w, o, &err))
		status = say(&err, 1);
	else
		status = 0;
	watch_close(&w);
	return status;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	struct options o;

	setlocale(LC_CTYPE, "");
	if (options_parse(&o, argc, argv, &err))
		return say(&err, OPTIONS_EXIT_MISUSE);
	if (o.help)
		options_usage(stdout);
	else if (o.version)
		puts("sbxtop " SBXCTL_VERSION);
	else if (o.table)
		options_table(stdout);
	else
		return show(&o);
	return fflush(stdout) ? 1 : 0;
}
