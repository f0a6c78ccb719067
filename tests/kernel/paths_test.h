/* SPDX-License-Identifier: Apache-2.0 */
/* paths_test: policies resolved in the scratch directory. */
#ifndef KERNEL_PATHS_TEST_H
#define KERNEL_PATHS_TEST_H

#include "kern/paths.h"
#include "scratch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WISHES_MAX 8
#define PROFILE FILE_LEVEL_PROFILE
#define CLI FILE_LEVEL_COMMAND_LINE

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

#endif
