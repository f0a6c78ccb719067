/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/trace.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "policy/files.h"
#include "policy/trace_call.h"

#define PATH_BYTES 4096

enum what {
	WHAT_OPEN,   /* a descriptor comes back; the flags are argument `path` + 1 */
	WHAT_CREATE, /* the same, for writing */
	WHAT_ENTRY,  /* the name comes or goes */
	WHAT_CHANGE, /* what it names is changed */
	WHAT_EXEC,
	WHAT_CHDIR,
	WHAT_FORK, /* the flags are argument 0 or 1 */
	WHAT_BIND, /* a socket's address is argument `path` */
};

/* Which argument is the directory a path is relative to (-1: the working directory), and which the path
 * (-1: the descriptor itself is meant). */
static const struct shape {
	const char *name;
	enum what what;
	signed char at, path;
	signed char at2, path2; /* of a second one, when not both 0 */
} shapes[] = {
	{ "open", WHAT_OPEN, -1, 0, 0, 0 },	      { "openat", WHAT_OPEN, 0, 1, 0, 0 },
	{ "openat2", WHAT_OPEN, 0, 1, 0, 0 },	      { "creat", WHAT_CREATE, -1, 0, 0, 0 },
	{ "mkdir", WHAT_ENTRY, -1, 0, 0, 0 },	      { "mkdirat", WHAT_ENTRY, 0, 1, 0, 0 },
	{ "mknod", WHAT_ENTRY, -1, 0, 0, 0 },	      { "mknodat", WHAT_ENTRY, 0, 1, 0, 0 },
	{ "rmdir", WHAT_ENTRY, -1, 0, 0, 0 },	      { "unlink", WHAT_ENTRY, -1, 0, 0, 0 },
	{ "unlinkat", WHAT_ENTRY, 0, 1, 0, 0 },	      { "rename", WHAT_ENTRY, -1, 0, -1, 1 },
	{ "renameat", WHAT_ENTRY, 0, 1, 2, 3 },	      { "renameat2", WHAT_ENTRY, 0, 1, 2, 3 },
	{ "link", WHAT_ENTRY, -1, 1, 0, 0 },	      { "linkat", WHAT_ENTRY, 2, 3, 0, 0 },
	{ "symlink", WHAT_ENTRY, -1, 1, 0, 0 },	      { "symlinkat", WHAT_ENTRY, 1, 2, 0, 0 },
	{ "chmod", WHAT_CHANGE, -1, 0, 0, 0 },	      { "fchmod", WHAT_CHANGE, 0, -1, 0, 0 },
	{ "fchmodat", WHAT_CHANGE, 0, 1, 0, 0 },      { "fchmodat2", WHAT_CHANGE, 0, 1, 0, 0 },
	{ "chown", WHAT_CHANGE, -1, 0, 0, 0 },	      { "lchown", WHAT_CHANGE, -1, 0, 0, 0 },
	{ "fchown", WHAT_CHANGE, 0, -1, 0, 0 },	      { "fchownat", WHAT_CHANGE, 0, 1, 0, 0 },
	{ "truncate", WHAT_CHANGE, -1, 0, 0, 0 },     { "utime", WHAT_CHANGE, -1, 0, 0, 0 },
	{ "utimes", WHAT_CHANGE, -1, 0, 0, 0 },	      { "futimesat", WHAT_CHANGE, 0, 1, 0, 0 },
	{ "utimensat", WHAT_CHANGE, 0, 1, 0, 0 },     { "setxattr", WHAT_CHANGE, -1, 0, 0, 0 },
	{ "lsetxattr", WHAT_CHANGE, -1, 0, 0, 0 },    { "fsetxattr", WHAT_CHANGE, 0, -1, 0, 0 },
	{ "removexattr", WHAT_CHANGE, -1, 0, 0, 0 },  { "lremovexattr", WHAT_CHANGE, -1, 0, 0, 0 },
	{ "fremovexattr", WHAT_CHANGE, 0, -1, 0, 0 }, { "execve", WHAT_EXEC, -1, 0, 0, 0 },
	{ "execveat", WHAT_EXEC, 0, 1, 0, 0 },	      { "chdir", WHAT_CHDIR, -1, 0, 0, 0 },
	{ "fchdir", WHAT_CHDIR, 0, -1, 0, 0 },	      { "fork", WHAT_FORK, 0, 0, 0, 0 },
	{ "vfork", WHAT_FORK, 0, 0, 0, 0 },	      { "clone", WHAT_FORK, 0, 0, 0, 0 },
	{ "clone3", WHAT_FORK, 0, 0, 0, 0 },	      { "bind", WHAT_BIND, -1, 1, 0, 0 },
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* A working directory; threads share one. */
struct place {
	unsigned int refs;
	char *path;
};

struct process {
	int pid, parent;     /* parent 0: not seen to be forked */
	bool shares;	     /* its parent's working directory */
	struct place *place; /* NULL: not seen yet */
	char *pending;	     /* what there is of a call that has not returned */
};

struct trace {
	void *processes; /* tsearch */
	char *directory; /* of the first one; NULL once it has it */
	trace_fn *fn;
	void *arg;
	size_t lost, pending;
};

void trace_filter(char buf[TRACE_FILTER_MAX])
{
	size_t len = 0;

	for (size_t i = 0; i < SHAPES; i++)
		len += (size_t)snprintf(buf + len, TRACE_FILTER_MAX - len, "%s?%s",
					i ? "," : "trace=", shapes[i].name);
}

static const struct shape *find_shape(const char *name)
{
	for (size_t i = 0; i < SHAPES; i++)
		if (!strcmp(shapes[i].name, name))
			return &shapes[i];
	return NULL;
}

/* ---- processes and where they are ------------------------------------------------------------------ */

static struct place *place_new(const char *path)
{
	struct place *p = malloc(sizeof(*p));

	if (p)
		*p = (struct place){ 1, strdup(path) };
	if (p && !p->path)
		free(take_ptr(&p));
	return p;
}

static void leave(struct process *p)
{
	if (p->place && !--p->place->refs) {
		free(p->place->path);
		free(p->place);
	}
	p->place = NULL;
}

static void drop_pending(struct trace *t, struct process *p)
{
	t->pending -= p->pending ? strlen(p->pending) : 0;
	free(take_ptr(&p->pending));
}

static void process_free(void *node)
{
	struct process *p = node;

	leave(p);
	free(p->pending);
	free(p);
}

static int compare(const void *a, const void *b)
{
	const struct process *one = a, *other = b;

	return (one->pid > other->pid) - (one->pid < other->pid);
}

static struct process *find(const struct trace *t, int pid)
{
	const struct process key = { .pid = pid };
	struct process *const *found = tfind(&key, &t->processes, compare);

	return found ? *found : NULL;
}

/* NULL: out of memory. */
static struct process *get(struct trace *t, int pid)
{
	struct process *p = find(t, pid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	if (!tsearch(p, &t->processes, compare))
		free(take_ptr(&p));
	return p;
}

/*
 * When a process is first seen its parent is still in the fork, or has just left it: it is where its parent is.
 */
static int settle(struct trace *t, struct process *p)
{
	const struct process *parent = p->parent ? find(t, p->parent) : NULL;

	if (p->place)
		return 0;
	if (parent && parent->place && p->shares) {
		p->place = parent->place;
		p->place->refs++;
	} else if (parent && parent->place) {
		p->place = place_new(parent->place->path);
	} else if (t->directory) {
		p->place = place_new(t->directory);
		free(take_ptr(&t->directory));
	} else {
		return 0;
	}
	return p->place ? 0 : -ENOMEM;
}

struct trace *trace_new(const char *directory, trace_fn *fn, void *arg)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct trace){ .directory = strdup(directory), .fn = fn, .arg = arg };
	if (!t->directory)
		free(take_ptr(&t));
	return t;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	tdestroy(t->processes, process_free);
	free(t->directory);
	free(t);
}

size_t trace_lost(const struct trace *t)
{
	return t->lost;
}

/* ---- calls that return later ----------------------------------------------------------------------- */

static int begin(struct trace *t, struct process *p, const struct trace_call *call)
{
	size_t len = strlen(call->text);

	drop_pending(t, p);
	if (t->pending + len > TRACE_PENDING_MAX)
		return 0;
	p->pending = strdup(call->text);
	if (!p->pending)
		return -ENOMEM;
	t->pending += len;
	return 0;
}

/* The whole text of a resumed call, for the caller to free, or NULL. */
static char *resume(struct trace *t, struct process *p, const struct trace_call *call)
{
	char *whole = NULL;

	if (p->pending && asprintf(&whole, "%s%s", p->pending, call->text) < 0)
		whole = NULL;
	drop_pending(t, p);
	return whole;
}

/* Puts calls together; *whole is to be freed by the caller. Returns 1 when `call` is a whole one. */
static int read_line(struct trace *t, char *line, struct trace_call *call, struct process **process,
		     char **whole)
{
	struct process *p;

	*whole = NULL;
	trace_call_read(call, line);
	if (call->form == TRACE_NONE)
		return 0;
	*process = p = get(t, call->pid);
	if (!p)
		return -ENOMEM;
	if (call->form == TRACE_BEGUN)
		return begin(t, p, call);
	if (call->form == TRACE_RESUMED) {
		*whole = resume(t, p, call);
		if (!*whole)
			return 0;
		trace_call_text(call, *whole);
	}
	return call->form == TRACE_WHOLE;
}

static bool shares_directory(const struct trace_call *call)
{
	return trace_call_flag(call->arg[0], "CLONE_FS") ||
	       trace_call_flag(call->arg[1], "CLONE_FS");
}

int trace_forks(struct trace *t, char *line)
{
	const struct shape *shape;
	struct process *p, *child;
	struct trace_call call;
	own_str whole = NULL;
	int rc = read_line(t, line, &call, &p, &whole);

	if (rc <= 0)
		return rc;
	shape = find_shape(call.name);
	if (!shape || shape->what != WHAT_FORK || call.result <= 0 || call.result == p->pid)
		return 0;
	child = get(t, (int)call.result);
	if (!child)
		return -ENOMEM;
	child->parent = p->pid;
	child->shares = shares_directory(&call);
	return 0;
}

/* ---- acts ------------------------------------------------------------------------------------------ */

/* Absolute, in `buf`; NULL when nobody can tell. Counts those. */
static const char *locate(struct trace *t, const struct process *p, char *at, char *path,
			  char buf[PATH_BYTES])
{
	const char *base = at ? trace_call_path(at) : p->place ? p->place->path : NULL;
	int len;

	if (path && *path == '/')
		return path;
	if (path && *path && !base)
		t->lost++;
	if (!base || !path || !*path)
		return base;
	len = snprintf(buf, PATH_BYTES, "%s/%s", strcmp(base, "/") != 0 ? base : "", path);
	return len < PATH_BYTES ? buf : NULL;
}

static int tell(struct trace *t, unsigned int right, bool entry, bool resolved, const char *path)
{
	const struct trace_act act = { right, entry, resolved, path };

	return path && right ? t->fn(t->arg, &act) : 0;
}

static int told_path(struct trace *t, const struct process *p, struct trace_call *call, int at,
		     int path, unsigned int right, bool entry)
{
	char buf[PATH_BYTES], *said = path < 0 ? NULL : trace_call_string(call->arg[path]);

	if (!said && at < 0)
		return 0;
	return tell(t, right, entry, path < 0,
		    locate(t, p, at < 0 ? NULL : call->arg[at], said, buf));
}

/* Where the descriptor leads says more than what was asked for, except for a file without a name. */
static int told_open(struct trace *t, const struct process *p, struct trace_call *call,
		     const struct shape *shape)
{
	const char *flags =
		shape->what == WHAT_CREATE ? "O_WRONLY|O_CREAT" : call->arg[shape->path + 1];
	bool create = trace_call_flag(flags, "O_CREAT"), write = create;
	unsigned int right = 0;

	if (trace_call_flag(flags, "O_PATH"))
		return 0;
	write |= trace_call_flag(flags, "O_WRONLY") || trace_call_flag(flags, "O_RDWR") ||
		 trace_call_flag(flags, "O_TRUNC");
	right |= trace_call_flag(flags, "O_WRONLY") ? 0U : FILE_READ;
	right |= write ? FILE_WRITE : 0U;
	if (trace_call_flag(flags, "O_TMPFILE"))
		return told_path(t, p, call, shape->at, shape->path, FILE_WRITE, false);
	return tell(t, right, create, true, trace_call_path(call->result_path));
}

static int changed_directory(struct trace *t, struct process *p, struct trace_call *call,
			     const struct shape *shape)
{
	char buf[PATH_BYTES], *said = shape->path < 0 ? NULL : trace_call_string(call->arg[0]);
	const char *path = locate(t, p, shape->at < 0 ? NULL : call->arg[0], said, buf);
	own_str copy = path ? strdup(path) : NULL;

	if (!copy) {
		leave(p);
		return path ? -ENOMEM : 0;
	}
	if (!p->place) {
		p->place = place_new(copy);
		return p->place ? 0 : -ENOMEM;
	}
	free(p->place->path);
	p->place->path = take_ptr(&copy);
	return 0;
}

static int forked(struct trace *t, const struct trace_call *call)
{
	struct process *child = find(t, (int)call->result);

	return child ? settle(t, child) : 0;
}

static int act(struct trace *t, struct process *p, struct trace_call *call)
{
	const struct shape *s = find_shape(call->name);
	char buf[PATH_BYTES], *socket;
	int rc;

	if (!s || call->result < 0)
		return 0;
	switch (s->what) {
	case WHAT_OPEN:
	case WHAT_CREATE:
		return told_open(t, p, call, s);
	case WHAT_ENTRY:
		rc = told_path(t, p, call, s->at, s->path, FILE_WRITE, true);
		return rc || !s->path2 ? rc
				       : told_path(t, p, call, s->at2, s->path2, FILE_WRITE, true);
	case WHAT_CHANGE:
		return told_path(t, p, call, s->at, s->path, FILE_WRITE, false);
	case WHAT_EXEC:
		return told_path(t, p, call, s->at, s->path, FILE_EXEC, false);
	case WHAT_CHDIR:
		return changed_directory(t, p, call, s);
	case WHAT_FORK:
		return call->result ? forked(t, call) : 0;
	case WHAT_BIND:
		socket = trace_call_socket(call->arg[s->path]);
		return socket ? tell(t, FILE_WRITE, true, false, locate(t, p, NULL, socket, buf))
			      : 0;
	}
	return 0;
}

int trace_line(struct trace *t, char *line)
{
	struct process *p = NULL;
	struct trace_call call;
	own_str whole = NULL;
	int rc = read_line(t, line, &call, &p, &whole);

	if (p && rc >= 0 && settle(t, p) < 0)
		return -ENOMEM;
	if (rc > 0)
		return act(t, p, &call);
	if (p && call.form == TRACE_EXITED) {
		leave(p);
		drop_pending(t, p);
	}
	return rc;
}
