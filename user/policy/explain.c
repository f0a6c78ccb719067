/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "policy/explain.h"

/* An optional rule on a name that nothing has yet, seen from its directory. */
static const struct file_rule *around(const struct file_policy *policy,
				      const struct file_rule *rule)
{
	char parent[4096];
	const char *slash = strrchr(rule->path, '/');
	size_t len = slash ? (size_t)(slash - rule->path) : 0;

	if (!len || len >= sizeof(parent))
		return policy->rules;
	memcpy(parent, rule->path, len);
	parent[len] = '\0';
	return files_decide(policy, parent);
}

static const char *hold_a(const struct file_rule *rule)
{
	switch (rule->reach) {
	case FILE_OBJECT:
		return rule->implied ? "nothing to hold"
				     : "the object, whatever name, link or mount leads to it";
	case FILE_ENTRY:
		return "the name in its directory, from the moment that something has it";
	case FILE_ANYWHERE:
		return "the name, in every directory";
	case FILE_ABSENT:
		break;
	}
	return "nothing to hold: its directory does not exist";
}

static const char *hold_b(const struct file_policy *policy, const struct file_rule *rule)
{
	switch (rule->reach) {
	case FILE_OBJECT:
		if (rule->implied)
			return "nothing to hold";
		return rule->rights & FILE_READ ? "a mount of its own and Landlock"
						: "a mask over it and Landlock";
	case FILE_ENTRY:
		if (around(policy, rule)->rights == rule->rights)
			return "the same as its directory";
		return rule->optional ? "not held: absent at the start, and recorded as such"
				      : "cannot hold what does not exist: the run is refused";
	case FILE_ANYWHERE:
		return "cannot hold a name at any depth: the run is refused";
	case FILE_ABSENT:
		break;
	}
	return "nothing to hold: its directory does not exist";
}

static void say(const struct file_rule *rule, char buf[EXPLAIN_TEXT])
{
	const char *verb = file_verb_name(rule->verb);

	if (rule->implied)
		snprintf(buf, EXPLAIN_TEXT, "none: what no rule names is allowed");
	else if (rule->reach == FILE_ANYWHERE || !strcmp(rule->written, rule->path))
		snprintf(buf, EXPLAIN_TEXT, "%s %s", verb, rule->written);
	else
		snprintf(buf, EXPLAIN_TEXT, "%s %s, %s %s", verb, rule->written,
			 rule->pattern ? "which finds" : "which is", rule->path);
}

void explain_path(const struct file_policy *policy, const char *path, struct explanation *out)
{
	const struct file_rule *rule = files_decide(policy, path);

	out->rule = rule;
	say(rule, out->said);
	snprintf(out->from, sizeof(out->from), "%s%s", rule->origin,
		 rule->optional ? " (optional)" : "");
	out->tier_a = hold_a(rule);
	out->tier_b = hold_b(policy, rule);
}
