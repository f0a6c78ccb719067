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
#include "tree.h"

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

static void write_json(const struct spec *spec, const struct result *result)
{
	own_str text = NULL;
	json_t *json;
	int rc;

	if (!spec->json && !spec->result)
		return;
	json = result_json(result);
	text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
	json_decref(json);
	if (!text) {
		fprintf(stderr, "sbxctl: out of memory for the result\n");
		return;
	}
	if (spec->json)
		puts(text);
	rc = spec->result ? write_to(spec->result, text) : 0;
	if (rc < 0)
		fprintf(stderr, "sbxctl: --result %s: %s\n", spec->result, strerror(-rc));
}

void report_result(const struct spec *spec, const struct result *result)
{
	write_json(spec, result);
	if (spec->tree)
		tree_print(stderr, result);
	/* A command that ended of the signal that was passed on to it needs no word, as without us. */
	if (result->outcome == OUTCOME_SIGNALED && result->killed_by == KILLED_BY_SIGNAL)
		return;
	if (spec->quiet || spec->json || !result->diagnostic[0] || result_exit_status(result) == 0)
		return;
	fprintf(stderr, "sbxctl: %s (run %s, %llu killed)\n", result->diagnostic, result->id,
		(unsigned long long)result->killed);
}

void report_failure(const struct spec *spec, const struct result *result, const struct err *err)
{
	struct result none;

	fprintf(stderr, "sbxctl: %s\n", err->text);
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
