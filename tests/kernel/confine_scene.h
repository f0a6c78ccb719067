/* SPDX-License-Identifier: Apache-2.0 */
/* confine_scene: a home with secrets and a repository, and a policy over it. */
#ifndef KERNEL_CONFINE_SCENE_H
#define KERNEL_CONFINE_SCENE_H

#include "must.h"

#include <limits.h>
#include <sys/stat.h>

#include "policy/files.h"

#define USER 1234
#define RX (FILE_READ | FILE_EXEC)
#define RULES_MAX 128

struct scene {
	char top[64]; /* <top>/home is the home, <top>/home/work what may be written */
	struct file_rule rules[RULES_MAX];
	struct file_policy policy;
	bool freeze; /* what is on the way to what is denied */
};

static inline char *at(const struct scene *s, const char *name)
{
	char *path;

	must(asprintf(&path, "%s/%s", s->top, name) > 0, "asprintf", "fails", __FILE__, __LINE__);
	return path; /* the process is short */
}

static inline void shell(const char *fmt, ...)
{
	char command[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	must(system(command) == 0, command, "fails", __FILE__, __LINE__);
}

static inline int by_path(const void *a, const void *b)
{
	return strcmp(((const struct file_rule *)a)->path, ((const struct file_rule *)b)->path);
}

/* A rule as files_compile leaves it. `path` is absolute, or below the scene. */
static inline struct file_rule *rule(struct scene *s, const char *path, unsigned int rights)
{
	struct file_rule *r = &s->rules[s->policy.count++];
	struct stat st = { 0 };

	must(s->policy.count <= RULES_MAX, path, "one rule too many", __FILE__, __LINE__);
	*r = (struct file_rule){ .path = *path == '/' ? strdup(path) : at(s, path),
				 .reach = FILE_OBJECT,
				 .rights = rights };
	r->written = r->path;
	if (lstat(r->path, &st) < 0)
		r->reach = FILE_ENTRY;
	r->directory = S_ISDIR(st.st_mode);
	s->policy.rules = s->rules;
	return r;
}

static inline void sort_rules(struct scene *s)
{
	qsort(s->rules, s->policy.count, sizeof(*s->rules), by_path);
}

/* The layout alone. */
static inline void scene_make(struct scene *s)
{
	*s = (struct scene){ .top = "/var/tmp/confine-XXXXXX" };
	must(mkdtemp(s->top) != NULL, "mkdtemp", strerror(errno), __FILE__, __LINE__);
	shell("cd %s && chmod 755 . && mkdir -p home/.ssh home/.gnupg home/work/.git/hooks "
	      "home/work/src home/work/tool other && "
	      "for f in home/.ssh/id home/.gnupg/k home/.netrc home/ok.txt home/work/.git/config "
	      "home/work/.git/hooks/old home/work/src/a.c other/file; do echo \"$f\" > $f; done && "
	      "cp /bin/true home/work/tool/true && cp /bin/true home/work/true && "
	      "ln -s .ssh/id home/link",
	      s->top);
}

/* "/" read-only, secrets denied, the work tree writable but for what runs by itself. */
static inline void scene_usual(struct scene *s)
{
	scene_make(s);
	rule(s, "/", RX);
	rule(s, "home/.ssh", 0);
	rule(s, "home/.gnupg", 0);
	rule(s, "home/.netrc", 0);
	rule(s, "home/work", FILE_ALL);
	rule(s, "home/work/.git/config", RX);
	rule(s, "home/work/.git/hooks", RX);
	rule(s, "home/work/tool", FILE_READ | FILE_WRITE);
	sort_rules(s);
}

static inline void scene_done(struct scene *s)
{
	shell("rm -rf %s", s->top);
}

#endif
