/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup_paths.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A slice of the text that is parsed. */
struct word {
	const char *at;
	size_t len;
};

static struct word cut(const char **text, char separator)
{
	struct word w = { .at = *text };
	const char *end = *text;

	while (*end && *end != '\n' && *end != separator)
		end++;
	w.len = (size_t)(end - w.at);
	*text = *end == separator && *end ? end + 1 : end;
	return w;
}

static const char *next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end ? end + 1 : text + strlen(text);
}

static bool is(struct word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

static bool lists(struct word w, const char *item)
{
	const char *p = w.at, *end = w.at + w.len;

	while (p < end) {
		struct word one = cut(&p, ',');

		if (one.at + one.len > end)
			one.len = (size_t)(end - one.at);
		if (is(one, item))
			return true;
	}
	return false;
}

int cgroup_paths_name(const char *proc_cgroup, const char *controller, char name[CGROUP_PATH_MAX])
{
	for (const char *line = proc_cgroup; *line; line = next_line(line)) {
		const char *p = line;
		struct word hierarchy = cut(&p, ':');
		struct word controllers = cut(&p, ':');
		struct word path = cut(&p, '\n');

		if (controller ? !lists(controllers, controller)
			       : !is(hierarchy, "0") || controllers.len)
			continue;
		if (path.len >= CGROUP_PATH_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path.at, path.len);
		name[path.len] = '\0';
		return 0;
	}
	return -ENOENT;
}

static bool octal(const char *p)
{
	return p[0] >= '0' && p[0] <= '3' && p[1] >= '0' && p[1] <= '7' && p[2] >= '0' &&
	       p[2] <= '7';
}

/* mountinfo writes space, tab, newline and backslash as \ooo. */
static int unescape(struct word w, char out[CGROUP_PATH_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < w.len; i++) {
		if (n + 1 >= CGROUP_PATH_MAX)
			return -ENAMETOOLONG;
		if (w.at[i] == '\\' && w.len - i > 3 && octal(w.at + i + 1)) {
			out[n++] = (char)((w.at[i + 1] - '0') * 64 + (w.at[i + 2] - '0') * 8 +
					  (w.at[i + 3] - '0'));
			i += 3;
		} else {
			out[n++] = w.at[i];
		}
	}
	out[n] = '\0';
	return 0;
}

struct mount {
	struct word root, point, type, options;
};

/* ID PARENT DEVICE ROOT POINT OPTIONS [TAG…] - TYPE SOURCE SUPER-OPTIONS */
static bool parse_mount(const char *line, struct mount *m)
{
	const char *p = line;
	struct word w;

	for (int i = 0; i < 3; i++)
		cut(&p, ' ');
	m->root = cut(&p, ' ');
	m->point = cut(&p, ' ');
	do
		w = cut(&p, ' ');
	while (w.len && !is(w, "-"));
	m->type = cut(&p, ' ');
	cut(&p, ' ');
	m->options = cut(&p, ' ');
	return w.len != 0;
}

static bool carries(const struct mount *m, const char *controller)
{
	if (!controller)
		return is(m->type, "cgroup2");
	return is(m->type, "cgroup") && lists(m->options, controller);
}

int cgroup_paths_find(const char *mountinfo, const char *controller, struct cgroup_paths *out)
{
	int r = -ENOENT;

	for (const char *line = mountinfo; *line; line = next_line(line)) {
		struct mount m;

		if (!parse_mount(line, &m) || !carries(&m, controller))
			continue;
		r = unescape(m.root, out->root);
		if (!r)
			r = unescape(m.point, out->mount);
		if (!r)
			r = cgroup_paths_resolve(out);
		if (!r)
			return 0;
	}
	return r;
}

static int join(char out[CGROUP_PATH_MAX], const char *a, const char *b)
{
	bool slash = *b && strcmp(a, "/");

	return snprintf(out, CGROUP_PATH_MAX, "%s%s%s", a, slash ? "/" : "", b) < CGROUP_PATH_MAX
		       ? 0
		       : -ENAMETOOLONG;
}

/* What of `name` lies below `root`, NULL when it is neither root nor below it. */
static const char *rest_of(const char *name, const char *root)
{
	size_t len = strcmp(root, "/") ? strlen(root) : 0;

	/* "/../x": a group outside our cgroup namespace, or outside of what is mounted here. */
	if (!strncmp(name, "/..", 3) || strncmp(name, root, len) || (name[len] && name[len] != '/'))
		return NULL;
	name += len;
	return *name == '/' ? name + 1 : name;
}

int cgroup_paths_resolve(struct cgroup_paths *paths)
{
	const char *rest = rest_of(paths->name, paths->root);

	return rest ? join(paths->dir, paths->mount, rest) : -EXDEV;
}

int cgroup_paths_child(struct cgroup_paths *out, const struct cgroup_paths *parent,
		       const char *leaf)
{
	int r;

	strcpy(out->mount, parent->mount);
	strcpy(out->root, parent->root);
	r = join(out->name, parent->name, leaf);
	return r ? r : cgroup_paths_resolve(out);
}

int cgroup_paths_up(struct cgroup_paths *paths)
{
	char *slash = strrchr(paths->name, '/');

	if (!strcmp(paths->name, paths->root) || !slash)
		return -ENOENT;
	slash[slash == paths->name] = '\0';
	return cgroup_paths_resolve(paths);
}

const char *cgroup_paths_leaf(const struct cgroup_paths *paths)
{
	const char *slash = strrchr(paths->name, '/');

	return slash ? slash + 1 : paths->name;
}

uint32_t cgroup_paths_level(const char *name)
{
	uint32_t level = 0;

	for (const char *p = name; *p; p++)
		level += p[0] == '/' && p[1] && p[1] != '/';
	return level;
}
