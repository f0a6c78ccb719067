/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/confine_plan.h"

#include <errno.h>
#include <string.h>

#define PROC "/proc"

/* Whether `path` is `of` or lies below it. */
static bool within(const char *of, size_t of_len, const char *path, size_t len)
{
	if (of_len == 1)
		return true; /* "/" */
	return len >= of_len && !memcmp(of, path, of_len) && (len == of_len || path[of_len] == '/');
}

bool confine_plan_optional(const struct confine_opts *opts, const struct file_rule *rule)
{
	static const char *const temporary[] = { "/tmp", "/var/tmp", "/dev/shm" };
	bool covered = false;

	for (size_t i = 0; opts->private_tmp && i < sizeof(temporary) / sizeof(*temporary); i++)
		covered |=
			within(temporary[i], strlen(temporary[i]), rule->path, strlen(rule->path));
	return rule->optional || covered;
}

/* Rules are sorted: of those above a path, the last is the innermost. */
static const struct file_rule *last_above(const struct file_rule *rules, size_t count,
					  const char *path, size_t len)
{
	for (size_t i = count; i-- > 0;)
		if (rules[i].reach == FILE_OBJECT &&
		    within(rules[i].path, strlen(rules[i].path), path, len))
			return &rules[i];
	return NULL;
}

const struct file_rule *confine_plan_rule(const struct file_policy *policy, const char *path,
					  size_t len)
{
	return last_above(policy->rules, policy->count, path, len);
}

bool confine_plan_masked(const struct file_policy *policy, size_t index)
{
	const struct file_rule *r = &policy->rules[index];
	size_t len = strlen(r->path);
	const struct file_rule *over = last_above(policy->rules, index, r->path, len);

	return r->reach == FILE_OBJECT && len > 1 && !(r->rights & FILE_READ) &&
	       (!over || over->rights & FILE_READ);
}

static int node_above(const struct confine_plan *p, const char *path, size_t len)
{
	for (size_t i = p->count; i-- > 0;) {
		const struct confine_node *n = &p->nodes[i];

		if (n->len < len && within(n->path, n->len, path, len))
			return (int)i;
	}
	return -1;
}

static int push(struct confine_plan *p, const char *path, size_t len, unsigned int rights,
		bool optional)
{
	int above = node_above(p, path, len);

	if (p->count == CONFINE_MOUNTS_MAX)
		return -E2BIG;
	if (above >= 0 && p->nodes[above].mask)
		p->nodes[above].way = true;
	p->nodes[p->count++] = (struct confine_node){
		.path = path,
		.len = len,
		.rights = rights,
		.above = above,
		.mask = !(rights & FILE_READ),
		.optional = optional,
		.tree = -1,
	};
	return 0;
}

/* The directories between a node and the nearest one above it. What lies below one of them comes in a
 * row, so the last node tells whether it is there already. */
static int pin_way(struct confine_plan *p, const struct file_rule *r, unsigned int rights,
		   bool optional)
{
	size_t len = strlen(r->path);
	int above = node_above(p, r->path, len), rc = 0;
	size_t from = above < 0 ? 0 : p->nodes[above].len;

	for (size_t i = from + 1; !rc && i < len; i++) {
		const struct confine_node *last = &p->nodes[p->count - 1];

		if (r->path[i] == '/' && !within(r->path, i, last->path, last->len))
			rc = push(p, r->path, i, rights, optional);
	}
	return rc;
}

static const struct file_rule *exact(const struct file_policy *policy, const char *path)
{
	const struct file_rule *r = confine_plan_rule(policy, path, strlen(path));

	return r && !strcmp(r->path, path) ? r : NULL;
}

/*
 * /proc is always a mount of its own: what a process writes about itself there is no file, and the
 * masks are staged below it. What speaks about the whole host there stays read-only, since root may
 * write it without any capability.
 */
static int plan_proc(struct confine_plan *p, const struct file_policy *policy, bool root)
{
	static const char *const host[] = { PROC "/acpi",	  PROC "/bus",	PROC "/fs",
					    PROC "/irq",	  PROC "/scsi", PROC "/sys",
					    PROC "/sysrq-trigger" };
	const struct file_rule *said = exact(policy, PROC);
	unsigned int rights = said ? said->rights : p->root;
	bool own = !said && rights & FILE_READ && !(rights & FILE_WRITE);
	int rc = push(p, PROC, strlen(PROC), own ? rights | FILE_WRITE : rights, false);

	/* Where reading is denied altogether Landlock says so: "/" has no mask. */
	if (!said)
		p->nodes[0].mask = false;
	for (size_t i = 0; !rc && own && root && i < sizeof(host) / sizeof(*host); i++)
		if (!exact(policy, host[i]))
			rc = push(p, host[i], strlen(host[i]), rights, true);
	return rc;
}

static int plan_rule(struct confine_plan *p, const struct confine_opts *opts, size_t index)
{
	const struct file_policy *policy = opts->policy;
	const struct file_rule *r = &policy->rules[index];
	size_t len = strlen(r->path);
	const struct file_rule *over = last_above(policy->rules, index, r->path, len);
	unsigned int above = over ? over->rights : FILE_ALL;
	bool optional = confine_plan_optional(opts, r);
	int rc = 0;

	if (r->reach != FILE_OBJECT || len == 1 || !strcmp(r->path, PROC) || r->rights == above ||
	    !((r->rights | above) & FILE_READ))
		return 0;
	if (above & FILE_WRITE)
		rc = pin_way(p, r, above, optional);
	return rc ? rc : push(p, r->path, len, r->rights, optional);
}

int confine_plan(struct confine_plan *p, const struct confine_opts *opts)
{
	const struct file_rule *top = exact(opts->policy, "/");
	int rc;

	p->count = 0;
	p->root = top ? top->rights : FILE_ALL;
	rc = plan_proc(p, opts->policy, opts->uid == 0);
	for (size_t i = 0; !rc && i < opts->policy->count; i++)
		rc = plan_rule(p, opts, i);
	return rc;
}
