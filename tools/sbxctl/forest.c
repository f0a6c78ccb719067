/* SPDX-License-Identifier: Apache-2.0 */
#include "forest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/own.h"

#define NOBODY UINT32_MAX

struct by_pid {
	uint32_t pid, process;
};

struct family {
	struct by_pid *pids;
	uint32_t *parent, *child, *sibling; /* by process; NOBODY */
	bool *seen;
	struct forest_node *out;
	size_t count, done;
};

static int compare(const void *a, const void *b)
{
	const struct by_pid *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static uint32_t find(const struct family *f, uint32_t pid)
{
	const struct by_pid key = { .pid = pid };
	const struct by_pid *hit = bsearch(&key, f->pids, f->count, sizeof(key), compare);

	return hit ? hit->process : NOBODY;
}

/* From the last to the first, so that the elder comes first in the list of children. */
static void relate(struct family *f, const struct view_process *list)
{
	for (size_t i = 0; i < f->count; i++) {
		f->pids[i] = (struct by_pid){ list[i].pid, (uint32_t)i };
		f->child[i] = f->sibling[i] = NOBODY;
	}
	qsort(f->pids, f->count, sizeof(*f->pids), compare);
	for (size_t i = f->count; i--;) {
		uint32_t parent = find(f, list[i].ppid);

		f->parent[i] = parent == i ? NOBODY : parent;
		if (f->parent[i] == NOBODY)
			continue;
		f->sibling[i] = f->child[parent];
		f->child[parent] = (uint32_t)i;
	}
}

/* Down to a child, else on to a sibling, else up until somebody has one; recursion would be as deep as a tree is. */
static void walk(struct family *f, uint32_t root)
{
	uint32_t at = root, depth = 0;

	while (at != NOBODY) {
		if (!f->seen[at]) {
			f->seen[at] = true;
			f->out[f->done++] = (struct forest_node){ at, depth < FOREST_DEPTH_MAX
									      ? depth
									      : FOREST_DEPTH_MAX };
			if (f->child[at] != NOBODY && !f->seen[f->child[at]]) {
				at = f->child[at];
				depth++;
				continue;
			}
		}
		while (at != root && (f->sibling[at] == NOBODY || f->seen[f->sibling[at]])) {
			at = f->parent[at];
			depth--;
		}
		if (at == root)
			return;
		at = f->sibling[at];
	}
}

static int order(struct family *f, const struct view_process *list)
{
	relate(f, list);
	for (uint32_t i = 0; i < f->count; i++)
		if (f->parent[i] == NOBODY)
			walk(f, i);
	/* Numbers that were used again may close a circle. */
	for (uint32_t i = 0; i < f->count; i++)
		if (!f->seen[i])
			f->out[f->done++] = (struct forest_node){ i, 0 };
	return 0;
}

int forest_order(const struct view_process *list, size_t count, struct forest_node *out)
{
	own_mem uint32_t *parent = calloc(count + 1, sizeof(*parent));
	own_mem uint32_t *child = calloc(count + 1, sizeof(*child));
	own_mem uint32_t *sibling = calloc(count + 1, sizeof(*sibling));
	own_mem struct by_pid *pids = calloc(count + 1, sizeof(*pids));
	own_mem bool *seen = calloc(count + 1, sizeof(*seen));
	struct family f = { pids, parent, child, sibling, seen, out, count, 0 };

	return parent && child && sibling && pids && seen ? order(&f, list) : -ENOMEM;
}
