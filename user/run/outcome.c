/* SPDX-License-Identifier: Apache-2.0 */
#include "run/outcome.h"

#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const outcome_names[] = {
	[OUTCOME_UNKNOWN] = "unknown",
	[OUTCOME_EXITED] = "exited",
	[OUTCOME_SIGNALED] = "signaled",
	[OUTCOME_LIMIT_EXCEEDED] = "limit_exceeded",
	[OUTCOME_COULD_NOT_RUN] = "could_not_run",
	[OUTCOME_CANCELLED] = "cancelled",
	[OUTCOME_OWNER_EXITED] = "owner_exited",
	[OUTCOME_STOPPED] = "stopped",
	[OUTCOME_INTERNAL_ERROR] = "internal_error",
	[OUTCOME_DETACHED] = "detached",
};

static const char *const killed_by_names[] = {
	[KILLED_BY_NONE] = NULL,	   [KILLED_BY_WALL] = "wall",
	[KILLED_BY_IDLE] = "idle",	   [KILLED_BY_CPU_TIME] = "cpu_time",
	[KILLED_BY_MEMORY] = "memory",	   [KILLED_BY_EXECS] = "execs",
	[KILLED_BY_DEPTH] = "depth",	   [KILLED_BY_OUTPUT] = "output",
	[KILLED_BY_OWNER] = "owner",	   [KILLED_BY_CANCEL] = "cancel",
	[KILLED_BY_STOP] = "stop",	   [KILLED_BY_TERMINATE] = "terminate",
	[KILLED_BY_ANCESTOR] = "ancestor", [KILLED_BY_SIGNAL] = "signal",
	[KILLED_BY_EXTERNAL] = "external",
};

const char *outcome_name(enum outcome outcome)
{
	return outcome_names[outcome];
}

const char *killed_by_name(enum killed_by killed_by)
{
	return killed_by_names[killed_by];
}

static int find_name(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (names[i] && !strcmp(names[i], name))
			return (int)i;
	return 0;
}

enum outcome outcome_find(const char *name)
{
	return (enum outcome)find_name(outcome_names, COUNT(outcome_names), name);
}

enum killed_by killed_by_find(const char *name)
{
	return (enum killed_by)find_name(killed_by_names, COUNT(killed_by_names), name);
}
