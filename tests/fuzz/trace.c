/* SPDX-License-Identifier: Apache-2.0 */
/* The trace reader: any lines, both readings; every path that is told is absolute. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/files.h"
#include "policy/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
	if (!held)
		abort();
}

static int tell(void *arg, const struct trace_act *act)
{
	(void)arg;
	must(act->path[0] == '/' && act->right && !(act->right & ~(unsigned int)FILE_ALL));
	return 0;
}

static void read_all(struct trace *t, const uint8_t *data, size_t size,
		     int (*one)(struct trace *t, char *line))
{
	char *text = malloc(size + 1), *line, *rest = text;

	must(text);
	memcpy(text, data, size);
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")))
		must(one(t, line) == 0);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace *t = trace_new("/start", tell, NULL);

	must(t);
	read_all(t, data, size, trace_forks);
	read_all(t, data, size, trace_line);
	trace_free(t);
	return 0;
}
