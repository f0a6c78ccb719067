/* SPDX-License-Identifier: Apache-2.0 */
/* trace_call: one line of strace as a system call with its arguments. Pure; points into the line. */
#ifndef POLICY_TRACE_CALL_H
#define POLICY_TRACE_CALL_H

#include <stdbool.h>

#define TRACE_ARGS_MAX 8

enum trace_form {
	TRACE_NONE,    /* a signal, or nothing we know */
	TRACE_WHOLE,   /* name, arguments and result */
	TRACE_BEGUN,   /* "… <unfinished ...>": `text` is what there is of it */
	TRACE_RESUMED, /* "<... NAME resumed>…": `text` is what follows */
	TRACE_EXITED,
};

struct trace_call {
	enum trace_form form;
	int pid;
	char *text; /* the line behind the pid */
	char *name;
	char *arg[TRACE_ARGS_MAX]; /* as written; NULL: not given */
	long result;		   /* -1 for every failure */
	char *result_path;	   /* of a descriptor that is returned, still quoted; NULL: none */
};

/* `line` is cut up. */
void trace_call_read(struct trace_call *call, char *line);
/* The same for the text of a call that was put together again. */
void trace_call_text(struct trace_call *call, char *text);

/* In place: a "string" without its quotes, NULL when it is none. */
char *trace_call_string(char *arg);
/* In place: the path of a descriptor, `3</dir>` or `AT_FDCWD</dir>`; NULL when it has none. */
char *trace_call_path(char *arg);
/* In place: the path in a socket's address; NULL when it is another one. */
char *trace_call_socket(char *arg);
bool trace_call_flag(const char *arg, const char *flag);

#endif
