/* SPDX-License-Identifier: Apache-2.0 */
/* paths_test: a directory of its own for each test, and policies resolved in it. */
#ifndef KERNEL_PATHS_TEST_H
#define KERNEL_PATHS_TEST_H

#include <limits.h>
#include <sys/stat.h>

#include "base/io.h"
#include "kern/paths.h"
#include "must.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WISHES_MAX 8
#define PROFILE FILE_LEVEL_PROFILE
#define CLI FILE_LEVEL_COMMAND_LINE

/* The test's own directory, the current one: home `h`, working directory `h/w`. */
static char top[PATH_MAX];

static inline int set_up(void **state)
{
	char path[] = "/tmp/sbx-paths-XXXXXX";

	(void)state;
	MUST(mkdtemp(path) && realpath(path, top) && chdir(top) == 0);
	MUST(mkdir("h", 0700) == 0 && mkdir("h/w", 0700) == 0);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	MUST(chdir("/") == 0);
	return io_remove_tree(AT_FDCWD, top);
}

/* Below the test's directory, its parents with it. */
static inline void make(const char *path, const char *text)
{
	char whole[2 * PATH_MAX], *slash;
	struct err err = { 0 };
	int fd;

	snprintf(whole, sizeof(whole), "%s/%s", top, path);
	slash = strrchr(whole, '/');
	*slash = '\0';
	OK(&err, io_mkdir_p(whole, 0755, &err));
	*slash = '/';
	if (!slash[1])
		return;
	fd = open(whole, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

struct said {
	enum file_verb verb;
	const char *path; /* a '-' first: optional */
	unsigned int level;
};

struct policy {
	struct file_policy rules;
	char note[256];
	struct err err;
	int rc;
};

static inline void absolute(char *buf, size_t size, const char *path)
{
	if (path[0] == '/')
		snprintf(buf, size, "%s", path);
	else
		snprintf(buf, size, "%s/%s", top, path);
}

static inline struct policy resolve_in(const char *home, const char *directory,
				       const struct said *said)
{
	struct file_wish wishes[WISHES_MAX] = { 0 };
	char home_path[2 * PATH_MAX], directory_path[2 * PATH_MAX];
	const struct paths_context context = { home_path, directory_path };
	struct policy p = { .rc = 0 };
	size_t count = 0;

	absolute(home_path, sizeof(home_path), home);
	absolute(directory_path, sizeof(directory_path), directory);
	for (; count < WISHES_MAX && said[count].path; count++) {
		bool optional = said[count].path[0] == '-';

		wishes[count] = (struct file_wish){
			.verb = said[count].verb,
			.path = (char *)said[count].path + optional,
			.optional = optional,
			.origin = (char *)(said[count].level == CLI ? "--x" : "profile p, line 1"),
			.level = said[count].level,
		};
	}
	p.rc = paths_resolve(wishes, count, &context, &p.rules, p.note, &p.err);
	return p;
}

static inline struct policy resolve(const struct said *said)
{
	return resolve_in("h", "h/w", said);
}
#define SAID(...) ((const struct said[WISHES_MAX]){ __VA_ARGS__ })

/* The rule on exactly this path below the test's directory, NULL when there is none. */
static inline const struct file_rule *rule_on(const struct policy *p, const char *path)
{
	char whole[2 * PATH_MAX];

	if (p->rc < 0)
		fail_msg("%s", p->err.text);
	absolute(whole, sizeof(whole), path);
	for (size_t i = 0; i < p->rules.count; i++)
		if (!strcmp(p->rules.rules[i].path, whole))
			return &p->rules.rules[i];
	return NULL;
}

static inline void expect(const struct policy *p, const char *path, enum file_verb verb,
			  enum file_reach reach)
{
	const struct file_rule *rule = rule_on(p, path);

	if (!rule)
		fail_msg("no rule on %s", path);
	else if (rule->verb != verb || rule->reach != reach)
		fail_msg("%s: %s, reach %d", path, file_verb_name(rule->verb), rule->reach);
}

static inline void expect_none(const struct policy *p, const char *path)
{
	if (rule_on(p, path))
		fail_msg("a rule on %s", path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
