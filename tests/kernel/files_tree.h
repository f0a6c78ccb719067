/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_tree: a sandbox under a file policy, and a directory to try it on. What is tried inside
 * answers 0 or a negative errno.
 */
#ifndef KERNEL_FILES_TREE_H
#define KERNEL_FILES_TREE_H

#include "keeper.h"

#include <sys/stat.h>

#include "kern/denials.h"
#include "kern/files.h"
#include "policy/files.h"

#define SCRATCH "/var/tmp/sbx-files"

struct line {
	enum file_verb verb;
	const char *path; /* below SCRATCH when it does not begin with '/' */
	enum file_reach reach;
};

static inline void policy_make(struct file_policy *policy, const struct line *lines, size_t count)
{
	struct err err = { .text = "" };

	*policy = (struct file_policy){ 0 };
	for (size_t i = 0; i < count; i++) {
		const struct line *l = &lines[i];
		bool whole = l->path[0] == '/' || l->reach == FILE_ANYWHERE;
		struct file_rule rule = {
			.verb = l->verb,
			.reach = l->reach,
			.origin = strdup("the test"),
			.level = FILE_LEVEL_COMMAND_LINE,
		};

		MUST(asprintf(&rule.path, "%s%s", whole ? "" : SCRATCH "/", l->path) > 0);
		rule.written = strdup(rule.path);
		rule.directory = true;
		OK(&err, file_policy_add(policy, &rule, &err));
	}
	OK(&err, files_compile(policy, &err));
}

struct guarded {
	struct tree tree;
	struct file_policy policy;
	struct files *files;
	int gate;
};

struct gated {
	int fd;
	int (*act)(void *arg);
	void *arg;
};

static inline int wait_at_gate(void *arg)
{
	struct gated *g = arg;
	char go;

	return read(g->fd, &go, 1) == 1 ? g->act(g->arg) : 98;
}

/* A sandbox whose root runs act(arg) under the policy. */
static inline void guarded_start(struct guarded *g, struct kern *k, const struct line *lines,
				 size_t count, bool audit, int (*act)(void *), void *arg)
{
	const struct kern_sandbox_opts opts = { .keeper_owns = true };
	struct files_opts how = { .audit = audit };
	struct err err = { .text = "" };
	struct gated gated = { .act = act, .arg = arg };
	int pair[2];

	*g = (struct guarded){ 0 };
	policy_make(&g->policy, lines, count);
	MUST(!pipe2(pair, O_CLOEXEC));
	gated.fd = pair[0];
	g->gate = pair[1];
	tree_start(&g->tree, k, &opts, wait_at_gate, &gated);
	close(pair[0]);
	how.sandbox = g->tree.id;
	how.pid = g->tree.root;
	OK(&err, files_publish(&g->files, k, &g->policy, &how, &err));
	MUST(write(g->gate, "x", 1) == 1);
}

/* Exit status of its root. */
static inline int guarded_end(struct guarded *g)
{
	int status = tree_wait(&g->tree);
	struct kern *k = g->tree.k;

	tree_end(&g->tree);
	files_release(g->files, k);
	denials_forget(k, g->tree.id);
	file_policy_done(&g->policy);
	close(g->gate);
	MUST(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define GUARDED(k, lines, act, arg)                                                                \
	({                                                                                         \
		struct guarded g_;                                                                 \
		guarded_start(&g_, k, lines, sizeof(lines) / sizeof((lines)[0]), false, act, arg); \
		guarded_end(&g_);                                                                  \
	})

#endif
