/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/files_plan.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx/denial.h"

_Static_assert((int)FILE_READ == SBX_FS_READ && (int)FILE_WRITE == SBX_FS_WRITE &&
		       (int)FILE_EXEC == SBX_FS_EXEC,
	       "rights are the same in policy and kernel half");
_Static_assert(FILES_ENTRY_NAME_MAX == SBX_FS_NAME - 1, "names end within their field");

struct planning {
	struct files_plan *plan;
	const struct file_policy *policy;
	size_t object_room, entry_room;
	int rc;
};

/* Room for one more; NULL after a failure, which is kept. */
static void *grow(struct planning *p, void *list, size_t count, size_t *room, size_t size)
{
	void *grown;

	if (p->rc || count < *room)
		return p->rc ? NULL : list;
	*room = *room ? 2 * *room : 64;
	grown = reallocarray(list, *room, size);
	if (!grown)
		p->rc = -ENOMEM;
	return grown;
}

static struct plan_object *add_object(struct planning *p, const char *path, size_t len)
{
	struct files_plan *plan = p->plan;
	struct plan_object *list =
		grow(p, plan->objects, plan->object_count, &p->object_room, sizeof(*list));

	if (!list)
		return NULL;
	plan->objects = list;
	list += plan->object_count;
	*list = (struct plan_object){ .path = strndup(path, len), .row.rule = SBX_NO_RULE };
	if (!list->path) {
		p->rc = -ENOMEM;
		return NULL;
	}
	plan->object_count++;
	return list;
}

/* Length of the path of the directory that `path` is in. */
static size_t parent_len(const char *path)
{
	size_t len = (size_t)(strrchr(path, '/') - path);

	return len ? len : 1;
}

static void add_ruled(struct planning *p, const char *path, const struct file_rule *rule,
		      bool named, bool missing_ok)
{
	struct plan_object *o = add_object(p, path, strlen(path));

	if (!o)
		return;
	o->row.flags = SBX_FS_RULE;
	o->row.rights = rule->rights;
	o->row.rule = (uint32_t)(rule - p->policy->rules);
	o->named = named;
	o->missing_ok = missing_ok;
}

/* The name outlives the object: what is deleted and made again has the rule from its first moment. */
static void add_entry(struct planning *p, const struct file_rule *rule)
{
	struct files_plan *plan = p->plan;
	struct plan_entry *list =
		grow(p, plan->entries, plan->entry_count, &p->entry_room, sizeof(*list));
	struct plan_object *dir;

	if (!list)
		return;
	plan->entries = list;
	list[plan->entry_count++] = (struct plan_entry){
		.path = rule->path,
		.parent = SIZE_MAX,
		.row = { .rights = rule->rights, .rule = (uint32_t)(rule - p->policy->rules) },
	};
	if (rule->reach == FILE_ANYWHERE)
		return;
	dir = add_object(p, rule->path, parent_len(rule->path));
	if (!dir)
		return;
	dir->row.flags = SBX_FS_ENTRIES;
	dir->missing_ok = rule->optional;
}

static const struct file_rule *decide(const struct file_policy *policy, const char *path,
				      size_t len, char *buf, size_t size)
{
	if (len >= size)
		return NULL;
	memcpy(buf, path, len);
	buf[len] = 0;
	return files_decide(policy, buf);
}

/* A directory that can be moved away and made anew takes a narrower rule below it along. */
static void pin_above(struct planning *p, const struct file_rule *rule)
{
	const struct file_rule *above;
	struct plan_object *dir;
	char buf[4096];
	size_t len = parent_len(rule->path);

	above = decide(p->policy, rule->path, len, buf, sizeof(buf));
	if (!above || !(above->rights & ~rule->rights))
		return;
	for (; len > 1; len = parent_len(buf)) {
		above = decide(p->policy, rule->path, len, buf, sizeof(buf));
		if (!above || !(above->rights & FILE_WRITE))
			continue;
		dir = add_object(p, rule->path, len);
		if (!dir)
			return;
		dir->row.flags = SBX_FS_PINNED;
		dir->missing_ok = rule->optional;
	}
}

static void add_rule(struct planning *p, const struct file_rule *rule)
{
	bool root = !strcmp(rule->path, "/");

	if (rule->reach == FILE_ABSENT)
		return;
	if (rule->reach == FILE_OBJECT)
		add_ruled(p, rule->path, rule, !rule->implied, rule->optional);
	if (root)
		return;
	if (rule->reach != FILE_OBJECT ||
	    strlen(strrchr(rule->path, '/') + 1) <= FILES_ENTRY_NAME_MAX)
		add_entry(p, rule);
	if (rule->reach != FILE_ANYWHERE)
		pin_above(p, rule);
}

static uint32_t flags_of(const struct file_policy *policy)
{
	uint32_t flags = SBX_FS_EXEC_ALL;

	for (size_t i = 0; i < policy->count; i++) {
		const struct file_rule *r = &policy->rules[i];

		if (r->reach == FILE_ANYWHERE)
			flags |= SBX_FS_ANYWHERE;
		if (r->rights & FILE_WRITE && r->rights & FILE_EXEC)
			flags |= SBX_FS_ANON_EXEC;
		if (!(r->rights & FILE_EXEC))
			flags &= ~SBX_FS_EXEC_ALL;
	}
	return flags;
}

/* ---- mounts --------------------------------------------------------------------------------- */

struct mount_line {
	char *device; /* major:minor */
	char *root;   /* within its file system */
	char *point;
};

/* Octal escapes, in place. */
static void unescape(char *s)
{
	char *to = s;
	unsigned int code;

	while (*s) {
		if (s[0] == '\\' && s[1] && s[2] && s[3] && sscanf(s + 1, "%3o", &code) == 1) {
			*to++ = (char)code;
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = 0;
}

static bool parse_line(char *line, struct mount_line *m)
{
	char *save = NULL;

	if (!strtok_r(line, " ", &save) || !strtok_r(NULL, " ", &save))
		return false;
	m->device = strtok_r(NULL, " ", &save);
	m->root = strtok_r(NULL, " ", &save);
	m->point = strtok_r(NULL, " ", &save);
	if (!m->point || m->point[0] != '/')
		return false;
	unescape(m->root);
	unescape(m->point);
	return true;
}

static bool root_is_mounted(const struct mount_line *list, size_t count, const char *device)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].root, "/") && !strcmp(list[i].device, device))
			return true;
	return false;
}

/* The walk ends at the root of each file system: there holds what holds on the path where it is
 * mounted. A part of one whose root is mounted too is walked through to that. */
static void add_mounts(struct planning *p, char *text)
{
	struct mount_line *list = NULL, *grown;
	size_t count = 0, room = 0;
	char *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l && !p->rc; l = strtok_r(NULL, "\n", &save)) {
		grown = grow(p, list, count, &room, sizeof(*list));
		if (!grown)
			break;
		list = grown;
		count += parse_line(l, &list[count]);
	}
	for (size_t i = 0; i < count && !p->rc; i++)
		if (!strcmp(list[i].root, "/") || !root_is_mounted(list, count, list[i].device))
			add_ruled(p, list[i].point, files_decide(p->policy, list[i].point), false,
				  true);
	free(list);
}

/* ---- one object a path ---------------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
	const struct plan_object *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Both hold for the path: the rule that names it, else the narrower. */
static void merge(struct plan_object *to, const struct plan_object *from)
{
	bool other = from->row.flags & SBX_FS_RULE &&
		     (!(to->row.flags & SBX_FS_RULE) || (from->named && !to->named));

	if (other) {
		to->row.rights = from->row.rights;
		to->row.rule = from->row.rule;
		to->named = from->named;
	}
	to->row.flags |= from->row.flags;
	to->missing_ok &= from->missing_ok;
}

static void merge_paths(struct files_plan *plan)
{
	size_t n = 0;

	qsort(plan->objects, plan->object_count, sizeof(*plan->objects), by_path);
	for (size_t i = 0; i < plan->object_count; i++) {
		if (n && !strcmp(plan->objects[n - 1].path, plan->objects[i].path)) {
			merge(&plan->objects[n - 1], &plan->objects[i]);
			free(plan->objects[i].path);
		} else {
			plan->objects[n++] = plan->objects[i];
		}
	}
	plan->object_count = n;
}

static int find_parents(struct files_plan *plan)
{
	for (size_t i = 0; i < plan->entry_count; i++) {
		struct plan_entry *e = &plan->entries[i];
		struct plan_object key = { 0 }, *found;

		if (e->path[0] != '/')
			continue;
		key.path = strndup(e->path, parent_len(e->path));
		found = key.path ? bsearch(&key, plan->objects, plan->object_count, sizeof(key),
					   by_path)
				 : NULL;
		free(key.path);
		if (!found)
			return -ENOMEM;
		e->parent = (size_t)(found - plan->objects);
	}
	return 0;
}

int files_plan_make(struct files_plan *plan, const struct file_policy *policy, char *mountinfo,
		    struct err *err)
{
	struct planning p = { .plan = plan, .policy = policy };

	*plan = (struct files_plan){ .flags = flags_of(policy) };
	for (size_t i = 0; i < policy->count; i++)
		add_rule(&p, &policy->rules[i]);
	add_mounts(&p, mountinfo);
	if (!p.rc)
		merge_paths(plan);
	if (!p.rc)
		p.rc = find_parents(plan);
	if (!p.rc)
		return 0;
	files_plan_done(plan);
	return err_set(err, p.rc, "plan the rows of the file policy");
}

void files_plan_done(struct files_plan *plan)
{
	for (size_t i = 0; i < plan->object_count; i++)
		free(plan->objects[i].path);
	free(plan->objects);
	free(plan->entries);
	*plan = (struct files_plan){ 0 };
}
