/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/own.h"
#include "base/text.h"
#include "print.h"
#include "tree.h"

#define DENIED_SHOWN 8 /* lines */

static int write_to(const char *where, const char *text)
{
	own_fd dir = -1, special = -1;
	own_str path = strdup(where);
	struct stat st;
	uint64_t fd;
	char *slash;

	if (!path)
		return -ENOMEM;
	if (!strncmp(where, "fd:", 3))
		return num_u64(where + 3, &fd) < 0 ? -EBADF
						   : io_write_all((int)fd, text, strlen(text));
	/* A device, a pipe or /dev/stdout is written to; only a file is replaced. */
	if (stat(where, &st) == 0 && !S_ISREG(st.st_mode)) {
		special = open(where, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		return special < 0 ? -errno : io_write_all(special, text, strlen(text));
	}
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	dir = open(slash ? (*path ? path : "/") : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	return io_replace_file(dir, slash ? slash + 1 : path, text, strlen(text), 0600, NULL);
}

/* 0, or -errno where write_to would fail, as far as that can be known before there is a result. */
static int check_place(const char *where)
{
	own_fd dir = -1;
	own_str path = strdup(where);
	struct stat st;
	uint64_t fd;
	char *slash;
	int flags;

	if (!path)
		return -ENOMEM;
	if (!strncmp(where, "fd:", 3)) {
		flags = num_u64(where + 3, &fd) < 0 ? -1 : fcntl((int)fd, F_GETFL);
		return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
	}
	if (stat(where, &st) == 0 && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : 0;
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	dir = open(slash ? (*path ? path : "/") : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return -errno;
	return slash && !slash[1] ? -EISDIR : 0;
}

int report_check(const struct spec *spec, struct err *err)
{
	int rc = spec->result ? check_place(spec->result) : 0;

	return rc < 0 ? err_say(err, ERR_VALIDATION, rc, "--result %s: %s", spec->result,
				strerror(-rc))
		      : 0;
}

static int write_stdout(char *text, const char *id)
{
	size_t len = strlen(text);
	int rc;

	text[len] = '\n'; /* in place of the terminator: one write, where one is enough */
	rc = io_write_all(STDOUT_FILENO, text, len + 1);
	text[len] = '\0';
	if (rc < 0 && rc != -EPIPE)
		fprintf(stderr, "sbxctl: write the output: %s%s%s\n", strerror(-rc),
			*id ? "; the result is kept: sbxctl inspect " : "", id);
	return rc;
}

/* 0, or negative when the record was asked for and did not arrive. */
static int write_json(const struct spec *spec, const struct result *result)
{
	own_str text = NULL;
	json_t *json;
	int printed = 0, rc;

	if (!spec->json && !spec->result)
		return 0;
	json = result_json(result);
	text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
	json_decref(json);
	if (!text) {
		fprintf(stderr, "sbxctl: out of memory for the result\n");
		return -ENOMEM;
	}
	rc = spec->result ? write_to(spec->result, text) : 0;
	if (rc < 0)
		fprintf(stderr, "sbxctl: --result %s: %s\n", spec->result, strerror(-rc));
	if (spec->json)
		printed = write_stdout(text, result->id);
	return rc < 0 ? rc : printed;
}

static bool colored(const struct spec *spec)
{
	static const char *const when[] = {
		[TRI_AUTO] = "auto", [TRI_ON] = "always", [TRI_OFF] = "never"
	};
	bool color = false;

	print_color_when(when[spec->color], stderr, &color, NULL);
	return color;
}

/* One line in one write: the command's own stderr may be the same terminal. */
static void say(const struct spec *spec, enum print_color hue, const char *text, const char *rest)
{
	own_str line = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	if (!out)
		return;
	fputs("sbxctl: ", out);
	print_colored(out, hue, colored(spec), text);
	fprintf(out, "%s\n", rest);
	if (fclose(out) == 0)
		fputs(line, stderr);
}

void report_started(const struct spec *spec, const struct result *result)
{
	char rest[32];

	if (result->note[0] && !spec->quiet && !spec->json)
		say(spec, PRINT_DIM, "note: ", result->note);
	if (!spec->verbose)
		return;
	snprintf(rest, sizeof(rest), " (run %s)", result->id);
	say(spec, PRINT_DIM, result->tier_sentence, rest);
}

static void say_how_it_ended(const struct spec *spec, const struct result *result)
{
	char how[64], rest[128];

	if (result->exit_code >= 0)
		snprintf(how, sizeof(how), "exit %d", result->exit_code);
	else if (result->signal > 0)
		num_signal_text(result->signal, how, sizeof(how));
	else
		snprintf(how, sizeof(how), "%s", outcome_name(result->outcome));
	snprintf(rest, sizeof(rest), " after %.3f s, %llu processes (run %s)",
		 (double)result->wall_ns / 1e9, (unsigned long long)result->processes, result->id);
	say(spec, result->exit_code == 0 ? PRINT_DIM : PRINT_BAD, how, rest);
}

/* The first few; `sbxctl why` has all. */
static void say_denied(const struct spec *spec, const struct result *result)
{
	const struct denied *d = &result->denied;
	char more[64];

	for (size_t i = 0; i < d->count && i < DENIED_SHOWN; i++) {
		const struct denied_item *item = &d->items[i];
		own_str text = NULL;
		own_str rest = NULL;

		if (asprintf(&text, "denied: %s %s%s%s%s", item->act, item->object,
			     item->name ? " (" : "", item->name ? item->name : "",
			     item->name ? ")" : "") < 0 ||
		    asprintf(&rest, " by %s%s%s", item->rule[0] ? item->rule : "policy",
			     item->hint[0] ? "; allowed by " : "", item->hint) < 0)
			return;
		text_line(text);
		text_line(rest);
		say(spec, PRINT_BAD, text, rest);
	}
	if (d->count > DENIED_SHOWN) {
		snprintf(more, sizeof(more), "denied: %zu more", d->count - DENIED_SHOWN);
		say(spec, PRINT_BAD, more, "; `sbxctl why` lists them");
	}
}

int report_result(const struct spec *spec, const struct result *result)
{
	char rest[64];
	int rc = write_json(spec, result);
	/* A command that ended of the signal that was passed on to it needs no word, as without us. */
	bool its_own = result->outcome == OUTCOME_SIGNALED && result->killed_by == KILLED_BY_SIGNAL;

	if (spec->tree)
		tree_print(stderr, result, colored(spec));
	if (spec->verbose)
		say_how_it_ended(spec, result);
	if (spec->quiet || spec->json ||
	    (!result->output_lost && (its_own || result_exit_status(result) == 0)))
		return rc;
	say_denied(spec, result);
	if (!result->diagnostic[0])
		return rc;
	snprintf(rest, sizeof(rest), " (run %s, %llu killed)", result->id,
		 (unsigned long long)result->killed);
	say(spec, PRINT_BAD, result->diagnostic, rest);
	return rc;
}

void report_failure(const struct spec *spec, const struct result *result, const struct err *err)
{
	struct result none;

	say(spec, PRINT_BAD, err->text, "");
	if (result) {
		write_json(spec, result);
		return;
	}
	result_init(&none);
	none.spec = spec;
	none.outcome = OUTCOME_COULD_NOT_RUN;
	result_diagnostic(&none, UINT64_MAX, "%s", err->text);
	write_json(spec, &none);
	result_done(&none);
}
