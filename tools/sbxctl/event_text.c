/* SPDX-License-Identifier: Apache-2.0 */
#include "event_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Appends as far as there is room. */
static void add(char *buf, size_t size, const char *before, const char *text)
{
	size_t used = strlen(buf);

	snprintf(buf + used, size - used, "%s%s", before, text);
}

static void add_value(char *buf, size_t size, const char *key, const json_t *value, bool first)
{
	char number[32];

	add(buf, size, first ? ": " : ", ", key);
	snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
	add(buf, size, " ",
	    json_is_string(value)    ? json_string_value(value)
	    : json_is_boolean(value) ? (json_is_true(value) ? "yes" : "no")
				     : number);
}

static const char *text_of(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text ? text : "";
}

/* What stands at the head of the line is not said again. */
static bool is_head(const char *key)
{
	return !strcmp(key, "event") || !strcmp(key, "time") || !strcmp(key, "id") ||
	       !strcmp(key, "pid") || !strcmp(key, "comm");
}

void event_text(const json_t *event, char *buf, size_t size)
{
	const char *time = strchr(text_of(event, "time"), 'T'), *key;
	const json_t *pid = json_object_get(event, "pid");
	bool first = true;
	char number[32];
	json_t *value;

	snprintf(buf, size, "%.12s %s %s", time ? time + 1 : "", text_of(event, "id"),
		 text_of(event, "event"));
	if (json_is_integer(pid)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(pid));
		add(buf, size, " ", number);
	}
	if (*text_of(event, "comm"))
		add(buf, size, " ", text_of(event, "comm"));
	json_object_foreach((json_t *)event, key, value) {
		if (is_head(key) || json_is_null(value) ||
		    (json_is_string(value) && !*json_string_value(value)))
			continue;
		add_value(buf, size, key, value, first);
		first = false;
	}
}
