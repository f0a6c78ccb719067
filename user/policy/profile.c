/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/text.h"
#include "policy/profile_chain.h"
#include "policy/profile_key.h"

#define KEYS_MAX 64
#define BLANK " \t"

/* One pass over the lines of a file. */
struct parse {
	struct profile *out;
	const char *section; /* NULL: before the first */
	char *line;	     /* the current one, NUL-terminated */
	unsigned int number;
	struct err *err;
};

void profile_origin(const struct profile *profile, unsigned int line, unsigned int column,
		    char *buf, size_t size)
{
	if (profile->source)
		snprintf(buf, size, "%.200s:%u:%u", profile->source, line, column);
	else
		snprintf(buf, size, "profile %s, line %u", profile->name, line);
}

/* `at` is in p->line. */
__attribute__((format(printf, 3, 4))) static int refuse(struct parse *p, const char *at,
							const char *fmt, ...)
{
	char text[256], place[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	profile_origin(p->out, p->number, (unsigned int)(at - p->line) + 1, place, sizeof(place));
	return err_say(p->err, ERR_VALIDATION, -EINVAL, "%s: %s", place, text);
}

static int no_memory(struct parse *p)
{
	return err_set(p->err, -ENOMEM, "read a profile");
}

static void cut_tail(char *text)
{
	size_t len = strlen(text);

	while (len && strchr(BLANK, text[len - 1]))
		text[--len] = '\0';
}

static int enter_section(struct parse *p, char *at)
{
	const char *names[KEYS_MAX], *nearest;
	char *end = strchr(at, ']');

	if (!end || end[1])
		return refuse(p, at, "not of the form [Section]");
	*end = '\0';
	for (size_t i = 0; i < profile_key_count; i++) {
		names[i] = profile_keys[i].section;
		if (!strcmp(names[i], at + 1)) {
			p->section = names[i];
			return 0;
		}
	}
	nearest = text_nearest(at + 1, names, profile_key_count);
	return refuse(p, at + 1, "unknown section [%.60s]%s%s%s", at + 1,
		      nearest ? "; did you mean [" : "", nearest ? nearest : "",
		      nearest ? "]?" : "");
}

static int unknown_key(struct parse *p, const char *key)
{
	const char *names[KEYS_MAX], *nearest;
	size_t count = 0;

	for (size_t i = 0; i < profile_key_count; i++) {
		if (!strcmp(profile_keys[i].name, key))
			return refuse(p, key, "%s= belongs into [%s]", key,
				      profile_keys[i].section);
		if (p->section && !strcmp(profile_keys[i].section, p->section))
			names[count++] = profile_keys[i].name;
	}
	if (!p->section)
		names[count++] = "Extends";
	nearest = text_nearest(key, names, count);
	return refuse(p, key, "unknown key %.60s=%s%s%s", key, nearest ? "; did you mean " : "",
		      nearest ? nearest : "", nearest ? "=?" : "");
}

static const struct profile_key *find_key(const struct parse *p, const char *name)
{
	for (size_t i = 0; p->section && i < profile_key_count; i++)
		if (!strcmp(profile_keys[i].section, p->section) &&
		    !strcmp(profile_keys[i].name, name))
			return &profile_keys[i];
	return NULL;
}

static int add(struct parse *p, const struct profile_key *key, const char *value, const char *at)
{
	struct profile *out = p->out;
	struct profile_setting *grown;
	char *copy = value ? strdup(value) : NULL;

	if (out->count == PROFILE_SETTINGS_MAX) {
		free(copy);
		return refuse(p, at, "more than %d settings", PROFILE_SETTINGS_MAX);
	}
	grown = value && !copy ? NULL : reallocarray(out->settings, out->count + 1, sizeof(*grown));
	if (!grown) {
		free(copy);
		return no_memory(p);
	}
	out->settings = grown;
	grown[out->count++] = (struct profile_setting){
		.key = key,
		.value = copy,
		.line = p->number,
		.column = (unsigned int)(at - p->line) + 1,
	};
	return 0;
}

/* Words by space; quotes hold one together and are taken away. */
static int add_words(struct parse *p, const struct profile_key *key, char *at)
{
	int r = 0;

	for (; *at && !r; at += strspn(at, BLANK)) {
		char *begin = at, *out = at, quote = '\0';

		for (; *at && (quote || !strchr(BLANK, *at)); at++) {
			if (*at == '"')
				quote ^= '"';
			else
				*out++ = *at;
		}
		if (quote)
			return refuse(p, begin, "a quote that is not closed");
		if (out == begin)
			return refuse(p, begin, "an empty word");
		if (*at)
			at++;
		*out = '\0';
		r = add(p, key, begin, begin);
	}
	return r;
}

static int extend(struct parse *p, char *value)
{
	if (p->out->extends)
		return refuse(p, value, "Extends= is given twice; it takes one profile");
	if (!profile_chain_name_valid(value))
		return refuse(p, value, "'%.60s' is not a profile's name", value);
	p->out->extends = strdup(value);
	p->out->extends_line = p->number;
	return p->out->extends ? 0 : no_memory(p);
}

static int assign(struct parse *p, char *name)
{
	char *equals = strchr(name, '='), *value;
	const struct profile_key *key;

	if (!equals)
		return refuse(p, name, "neither a comment, nor [Section], nor Key=value");
	value = equals + 1 + strspn(equals + 1, BLANK);
	*equals = '\0';
	cut_tail(name);
	if (!p->section && !strcmp(name, "Extends"))
		return extend(p, value);
	key = find_key(p, name);
	if (!key)
		return unknown_key(p, name);
	if (key->refused)
		return refuse(p, name, "%s=: %s", name, key->refused);
	if (!*value)
		return add(p, key, NULL, name);
	if (value[strlen(value) - 1] == '\\')
		return refuse(p, value + strlen(value) - 1,
			      "lines are not continued; write %s= again", name);
	return key->list ? add_words(p, key, value) : add(p, key, value, value);
}

static int parse_line(struct parse *p)
{
	char *at;

	for (at = p->line; *at; at++)
		if (iscntrl((unsigned char)*at) && *at != '\t')
			return refuse(p, at, "a control character");
	if (!text_valid(p->line, strlen(p->line)))
		return refuse(p, p->line, "not UTF-8");
	at = p->line + strspn(p->line, BLANK);
	cut_tail(at);
	if (!*at || *at == '#' || *at == ';')
		return 0;
	return *at == '[' ? enter_section(p, at) : assign(p, at);
}

int profile_parse(struct profile *out, const char *name, const char *source, const char *text,
		  size_t len, struct err *err)
{
	struct parse p = { .out = out, .err = err };
	own_str copy = strndup(text, len);
	int r = 0;

	*out = (struct profile){ .name = strdup(name), .source = source ? strdup(source) : NULL };
	if (!copy || !out->name || (source && !out->source))
		r = no_memory(&p);
	else if (len > PROFILE_BYTES_MAX || strlen(copy) != len)
		r = err_say(err, ERR_VALIDATION, -EINVAL, "%s: not a profile: %s",
			    source ? source : name,
			    len > PROFILE_BYTES_MAX ? "more than 64 KiB" : "it has a NUL byte");
	for (char *rest = copy; rest && !r;) {
		p.line = strsep(&rest, "\n");
		p.number++;
		r = parse_line(&p);
	}
	if (r < 0)
		profile_done(out);
	return r;
}

void profile_done(struct profile *profile)
{
	for (size_t i = 0; i < profile->count; i++)
		free(profile->settings[i].value);
	free(profile->settings);
	free(profile->name);
	free(profile->source);
	free(profile->extends);
	*profile = (struct profile){ 0 };
}
