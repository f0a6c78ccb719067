/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%^"

/* Room for a path of which every byte is a quote. */
#define QUOTED_MAX (4 * 4096 + 3)

/* For sh: as it is, or within single quotes. */
static void quote(const char *word, size_t len, char out[QUOTED_MAX])
{
	char *p = out;

	if (len && strspn(word, PLAIN) >= len) {
		memcpy(out, word, len);
		out[len] = '\0';
		return;
	}
	*p++ = '\'';
	for (size_t i = 0; i < len; i++) {
		if (word[i] == '\'')
			p = stpcpy(p, "'\\''");
		else
			*p++ = word[i];
	}
	p = stpcpy(p, "'");
}

/* The directory around it; "/" for what is directly below. */
static size_t parent_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash || slash == path ? 1 : (size_t)(slash - path);
}

bool hint_text(const struct file_rule *rule, struct hint_wanted wanted, const char *object,
	       char *buf, size_t size)
{
	bool write = wanted.right == FILE_WRITE || (rule && rule->rights & FILE_WRITE);
	char word[QUOTED_MAX];
	size_t len;

	buf[0] = '\0';
	if (!rule || object[0] != '/' || strlen(object) >= 4096)
		return false;
	if (rule->level == FILE_LEVEL_COMMAND_LINE &&
	    (rule->reach == FILE_ANYWHERE || !strcmp(rule->path, object))) {
		snprintf(buf, size, "without %s %s", rule->origin, rule->written);
		return true;
	}
	if (rule->reach == FILE_ANYWHERE)
		wanted.entry = false; /* of all rules on that name only a path wins over it */
	len = wanted.entry ? parent_len(object) : strlen(object);
	quote(object, len, word);
	snprintf(buf, size, "%s %s", write ? "--rw" : "--ro", word);
	return true;
}

static const char *last_port(const char *object)
{
	const char *colon = strrchr(object, ':');

	return colon ? colon + 1 : object;
}

bool hint_net_text(const char *act, const char *object, char *buf, size_t size)
{
	bool local = object[0] == '/' || object[0] == '@';
	size_t digits = strspn(last_port(object), "0123456789");
	char word[QUOTED_MAX];

	buf[0] = '\0';
	if (!strcmp(act, "connect") || !strcmp(act, "send")) {
		if (!local && !strchr(object, ':'))
			return false;
		quote(object, strlen(object), word);
		snprintf(buf, size, "%s %s", local ? "--allow-unix" : "--allow-net", word);
	} else if ((!strcmp(act, "bind") || !strcmp(act, "listen")) && !local && digits &&
		   strtoul(last_port(object), NULL, 10)) {
		snprintf(buf, size, "--allow-bind %.*s", (int)digits, last_port(object));
	}
	return buf[0];
}
