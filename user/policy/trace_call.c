/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/trace_call.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define UNFINISHED " <unfinished ...>"
#define RESUMED " resumed>"
#define DELETED "(deleted)"

/* In place: C escapes, with octal numbers of up to three digits. */
static char *unescape(char *text)
{
	static const char plain[] = "\\\"ntrfva", bytes[] = "\\\"\n\t\r\f\v\a";
	char *out = text, *in = text;

	while (*in) {
		const char *known;
		unsigned int value = 0;

		if (*in != '\\' || !in[1]) {
			*out++ = *in++;
			continue;
		}
		known = strchr(plain, in[1]);
		if (known) {
			*out++ = bytes[known - plain];
			in += 2;
			continue;
		}
		in++;
		for (int i = 0; i < 3 && *in >= '0' && *in <= '7'; i++)
			value = value * 8 + (unsigned int)(*in++ - '0');
		*out++ = (char)value;
	}
	*out = '\0';
	return text;
}

/* The end of what begins at `at`: behind a string, a <path> or something in brackets. */
static char *skip_string(char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return at + (*at == '"');
}

/* Up to a ',' or the ')' that ends the arguments. */
static char *skip_arg(char *at)
{
	int depth = 0;

	while (*at) {
		if (*at == '"') {
			at = skip_string(at);
			continue;
		}
		if (*at == '<') {
			at += strcspn(at, ">");
			at += *at == '>';
			continue;
		}
		if (!depth && (*at == ',' || *at == ')'))
			break;
		depth += strchr("([{", *at) != NULL;
		depth -= depth && strchr(")]}", *at);
		at++;
	}
	return at;
}

/* " = 3</path>", " = -1 ENOENT (…)", " = ?": behind the arguments. */
static void read_result(struct trace_call *call, char *at)
{
	char *end;

	at += strspn(at, " ");
	call->result = -1;
	if (*at != '=')
		return;
	at += 1 + strspn(at + 1, " ");
	call->result = strtol(at, &end, 10);
	if (end == at || call->result < 0)
		call->result = -1;
	else if (*end == '<')
		call->result_path = end;
	call->form = TRACE_WHOLE;
}

void trace_call_text(struct trace_call *call, char *text)
{
	char *at = text + strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

	call->form = TRACE_NONE;
	call->text = call->name = text;
	if (at == text || *at != '(')
		return;
	*at++ = '\0';
	for (int i = 0; *at && *at != ')';) {
		char *end = skip_arg(at);
		bool last = *end != ',';

		if (i < TRACE_ARGS_MAX)
			call->arg[i++] = at;
		if (!*end)
			return;
		*end = '\0';
		at = end + 1;
		if (last) {
			read_result(call, at);
			return;
		}
		at += strspn(at, " ");
	}
	if (*at == ')')
		read_result(call, at + 1);
}

void trace_call_read(struct trace_call *call, char *line)
{
	char *at = line, *end;
	size_t len;

	*call = (struct trace_call){ .result = -1 };
	if (!isdigit((unsigned char)*at))
		return;
	call->pid = (int)strtol(at, &at, 10);
	at += strspn(at, " ");
	call->text = at;
	len = strlen(at);
	if (!strncmp(at, "+++ ", 4)) {
		call->form = TRACE_EXITED;
	} else if (!strncmp(at, "<... ", 5)) {
		end = strstr(at, RESUMED);
		if (!end)
			return;
		call->text = end + strlen(RESUMED);
		call->form = TRACE_RESUMED;
	} else if (len > strlen(UNFINISHED) && !strcmp(at + len - strlen(UNFINISHED), UNFINISHED)) {
		at[len - strlen(UNFINISHED)] = '\0';
		call->form = TRACE_BEGUN;
	} else {
		trace_call_text(call, at);
	}
}

char *trace_call_string(char *arg)
{
	char *end;

	if (!arg || *arg != '"')
		return NULL;
	end = skip_string(arg);
	if (end[-1] != '"' || end == arg + 1)
		return NULL;
	end[-1] = '\0';
	return unescape(arg + 1);
}

char *trace_call_path(char *arg)
{
	char *begin = arg ? strchr(arg, '<') : NULL, *end;

	if (!begin || begin[1] != '/')
		return NULL; /* none, or a pipe, a socket and the like */
	end = strchr(begin, '>');
	if (!end || !strncmp(end + 1, DELETED, strlen(DELETED)))
		return NULL; /* cut off; without a name, a memfd too */
	*end = '\0';
	return unescape(begin + 1);
}

char *trace_call_socket(char *arg)
{
	static const char key[] = "sun_path=";
	char *at = arg ? strstr(arg, key) : NULL;

	return at ? trace_call_string(at + strlen(key)) : NULL;
}

bool trace_call_flag(const char *arg, const char *flag)
{
	size_t len = strlen(flag);

	for (const char *at = arg; at && (at = strstr(at, flag)); at += len) {
		bool begins = at == arg || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');

		if (begins && !isalnum((unsigned char)at[len]) && at[len] != '_')
			return true;
	}
	return false;
}
