/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/files.h"

void file_wish_done(struct file_wish *wish)
{
	free(wish->path);
	free(wish->origin);
	*wish = (struct file_wish){ 0 };
}

static void rule_done(struct file_rule *rule)
{
	free(rule->path);
	free(rule->written);
	free(rule->origin);
	*rule = (struct file_rule){ 0 };
}

void file_policy_done(struct file_policy *policy)
{
	for (size_t i = 0; i < policy->count; i++)
		rule_done(&policy->rules[i]);
	free(policy->rules);
	*policy = (struct file_policy){ 0 };
}

int file_policy_add(struct file_policy *policy, struct file_rule *rule, struct err *err)
{
	struct file_rule *grown;

	if (policy->count == FILES_RULES_MAX) {
		rule_done(rule);
		return err_say(err, ERR_VALIDATION, -ENOSPC, "the policy has more than %d rules",
			       FILES_RULES_MAX);
	}
	grown = reallocarray(policy->rules, policy->count + 1, sizeof(*grown));
	if (!grown) {
		rule_done(rule);
		return err_set(err, -ENOMEM, "take a rule");
	}
	policy->rules = grown;
	policy->rules[policy->count++] = *rule;
	*rule = (struct file_rule){ 0 };
	return 0;
}

/* ---- settling ------------------------------------------------------------------------------------ */

/* Paths in order of their bytes, so that what is above comes first; names last. On one path later levels
 * first, and what was named before what a pattern found. */
static int compare_rules(const void *a, const void *b)
{
	const struct file_rule *one = a, *other = b;
	int order = (one->reach == FILE_ANYWHERE) - (other->reach == FILE_ANYWHERE);

	if (!order)
		order = strcmp(one->path, other->path);
	if (!order)
		order = (one->level < other->level) - (one->level > other->level);
	if (!order)
		order = one->pattern - other->pattern;
	if (!order)
		order = (int)one->verb - (int)other->verb;
	return order ? order : strcmp(one->origin, other->origin);
}

static bool same_place(const struct file_rule *one, const struct file_rule *other)
{
	return (one->reach == FILE_ANYWHERE) == (other->reach == FILE_ANYWHERE) &&
	       !strcmp(one->path, other->path);
}

static int contradiction(const struct file_rule *one, const struct file_rule *other,
			 struct err *err)
{
	return err_say(err, ERR_VALIDATION, -EINVAL,
		       "%s %.80s (%.80s) contradicts %s %.80s (%.80s)", file_verb_name(one->verb),
		       one->written, one->origin, file_verb_name(other->verb), other->written,
		       other->origin);
}

static unsigned int verb_rights(enum file_verb verb)
{
	static const unsigned int rights[] = {
		[FILE_RO] = FILE_READ | FILE_EXEC,
		[FILE_RW] = FILE_ALL,
		[FILE_NOEXEC] = FILE_ALL & ~FILE_EXEC, /* of what holds around it: narrow() */
		[FILE_DENY] = 0,
	};

	return rights[verb];
}

/* Which of the rules on one path decides: the index of one that grants or denies, and whether noexec of the
 * same level or a later one joins it; of the first noexec, where there is only that. */
static int choose(const struct file_rule *rules, size_t count, size_t *kept, bool *noexec,
		  struct err *err)
{
	const struct file_rule *access = NULL, *no = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct file_rule *r = &rules[i], **place;

		if (access && r->level < access->level)
			break;
		place = r->verb == FILE_NOEXEC ? &no : &access;
		if (*place && r->verb != (*place)->verb && r->pattern == (*place)->pattern)
			return contradiction(*place, r, err);
		if (*place)
			continue;
		*place = r;
		if (r == access || !access)
			*kept = i;
	}
	*noexec = no;
	if (access && no && access->verb == FILE_DENY && access->level == no->level &&
	    access->pattern == no->pattern)
		return contradiction(access, no, err);
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int check_name(const struct file_rule *rule, struct err *err)
{
	const char *name = base_name(rule->path);

	if (rule->reach != FILE_ENTRY && rule->reach != FILE_ANYWHERE)
		return 0;
	if (strlen(name) > FILES_ENTRY_NAME_MAX)
		return err_say(err, ERR_VALIDATION, -ENAMETOOLONG,
			       "%.80s (%.80s): a name that does not exist yet is held up to %d "
			       "bytes",
			       rule->written, rule->origin, FILES_ENTRY_NAME_MAX);
	if (rule->reach == FILE_ANYWHERE && rule->verb == FILE_NOEXEC)
		return err_say(err, ERR_VALIDATION, -EINVAL,
			       "%.80s (%.80s): noexec needs a path; what else holds for a name "
			       "differs from place to place",
			       rule->written, rule->origin);
	return 0;
}

/* The rules on one path become the one at `out`, which may be the first of them. */
static int merge(struct file_rule *rules, size_t count, struct file_rule *out, struct err *err)
{
	struct file_rule won;
	bool noexec = false;
	size_t at = 0;
	int r = choose(rules, count, &at, &noexec, err);

	if (r < 0)
		return r;
	won = rules[at];
	won.rights = verb_rights(won.verb);
	if (noexec)
		won.rights &= ~(unsigned int)FILE_EXEC;
	for (size_t i = 0; i < count; i++) {
		won.directory |= rules[i].directory;
		if (rules[i].reach < won.reach)
			won.reach = rules[i].reach;
		if (i != at)
			rule_done(&rules[i]);
	}
	rules[at] = (struct file_rule){ 0 };
	*out = won;
	return check_name(out, err);
}

static int merge_all(struct file_policy *policy, struct err *err)
{
	struct file_rule *rules = policy->rules;
	size_t out = 0, in = 0;
	int r = 0;

	while (in < policy->count && !r) {
		size_t end = in + 1;

		while (end < policy->count && same_place(&rules[in], &rules[end]))
			end++;
		r = merge(&rules[in], end - in, &rules[out], err);
		out += !r;
		in = end;
	}
	if (!r)
		policy->count = out;
	return r;
}

static int add_root(struct file_policy *policy, struct err *err)
{
	struct file_rule root = {
		.verb = FILE_RW,
		.directory = true,
		.implied = true,
	};

	for (size_t i = 0; i < policy->count; i++)
		if (!strcmp(policy->rules[i].path, "/"))
			return 0;
	root.path = strdup("/");
	root.written = strdup("/");
	root.origin = strdup("no rule");
	if (!root.path || !root.written || !root.origin) {
		rule_done(&root);
		return err_set(err, -ENOMEM, "take a rule");
	}
	return file_policy_add(policy, &root, err);
}

/* ---- deciding ------------------------------------------------------------------------------------ */

struct key {
	const char *path;
	size_t len;
};

static int compare_key(const void *a, const void *b)
{
	const struct key *key = a;
	const struct file_rule *rule = b;
	int order;

	if (rule->reach == FILE_ANYWHERE)
		return -1;
	order = strncmp(key->path, rule->path, key->len);
	return order ? order : rule->path[key->len] ? -1 : 0;
}

static const struct file_rule *find_path(const struct file_policy *policy, struct key key)
{
	const struct file_rule *found =
		bsearch(&key, policy->rules, policy->count, sizeof(*found), compare_key);

	return found && found->reach != FILE_ABSENT ? found : NULL;
}

static const struct file_rule *find_name(const struct file_policy *policy, struct key key)
{
	const char *name = key.path + key.len;

	while (name > key.path && name[-1] != '/')
		name--;
	key.len -= (size_t)(name - key.path);
	for (size_t i = policy->count; i-- && policy->rules[i].reach == FILE_ANYWHERE;)
		if (strlen(policy->rules[i].path) == key.len &&
		    !strncmp(policy->rules[i].path, name, key.len))
			return &policy->rules[i];
	return NULL;
}

/* From the object upwards; on each step a rule on that path, then one for that name: where both could
 * hold, outrank() has made them one. */
static const struct file_rule *nearest(const struct file_policy *policy, struct key key)
{
	const struct file_rule *found = NULL;

	while (key.len && !found) {
		found = find_path(policy, key);
		if (!found)
			found = find_name(policy, key);
		while (key.len && key.path[key.len - 1] != '/')
			key.len--;
		while (key.len && key.path[key.len - 1] == '/')
			key.len--;
	}
	return found ? found : &policy->rules[0];
}

const struct file_rule *files_decide(const struct file_policy *policy, const char *path)
{
	struct key key = { path, strlen(path) };

	while (key.len && path[key.len - 1] == '/')
		key.len--;
	return nearest(policy, key);
}

/* ---- what depends on what is around ---------------------------------------------------------------- */

/* noexec alone takes execute away from what holds around it. */
static void narrow(struct file_policy *policy, struct file_rule *rule)
{
	struct key parent = { rule->path, (size_t)(base_name(rule->path) - rule->path) };

	if (rule->verb != FILE_NOEXEC || rule == policy->rules)
		return;
	while (parent.len && rule->path[parent.len - 1] == '/')
		parent.len--;
	rule->rights = nearest(policy, parent)->rights & ~(unsigned int)FILE_EXEC;
}

static int replace(char **text, const char *by, struct err *err)
{
	char *copy = strdup(by);

	if (!copy)
		return err_set(err, -ENOMEM, "take a rule");
	free(*text);
	*text = copy;
	return 0;
}

/* A rule for a name is a pattern that finds every path that ends so. Where it outranks the rule on such a
 * path, that rule becomes a copy: enforcement then need not know of ranks. */
static int outrank(struct file_policy *policy, struct file_rule *rule, struct err *err)
{
	const struct file_rule *name =
		find_name(policy, (struct key){ rule->path, strlen(rule->path) });
	int r;

	if (!name || rule->level > name->level ||
	    (rule->level == name->level && (!rule->pattern || !(rule->rights & ~name->rights))))
		return 0;
	r = replace(&rule->written, name->written, err);
	if (!r)
		r = replace(&rule->origin, name->origin, err);
	rule->verb = name->verb;
	rule->rights = name->rights;
	rule->level = name->level;
	rule->pattern = true;
	return r;
}

int files_compile(struct file_policy *policy, struct err *err)
{
	int r = add_root(policy, err);

	if (r < 0)
		return r;
	qsort(policy->rules, policy->count, sizeof(*policy->rules), compare_rules);
	r = merge_all(policy, err);
	for (size_t i = 0; i < policy->count && !r; i++) {
		struct file_rule *rule = &policy->rules[i];

		if (rule->reach == FILE_ANYWHERE)
			break;
		narrow(policy, rule);
		if (i)
			r = outrank(policy, rule, err);
	}
	return r;
}

static bool below(const char *path, const char *top)
{
	size_t len = strlen(top);

	while (len && top[len - 1] == '/')
		len--;
	return !strncmp(path, top, len) && path[len] == '/' && path[len + 1];
}

bool files_narrowed_below(const struct file_policy *policy, const char *path)
{
	unsigned int here = files_decide(policy, path)->rights;

	for (size_t i = 0; i < policy->count; i++) {
		const struct file_rule *rule = &policy->rules[i];

		if (rule->reach == FILE_ABSENT ||
		    (rule->reach != FILE_ANYWHERE && !below(rule->path, path)))
			continue;
		if (here & ~rule->rights)
			return true;
	}
	return false;
}

const char *file_verb_name(enum file_verb verb)
{
	static const char *const names[] = {
		[FILE_RO] = "ro",
		[FILE_RW] = "rw",
		[FILE_NOEXEC] = "noexec",
		[FILE_DENY] = "deny",
	};

	return names[verb];
}

const char *files_rights_text(unsigned int rights)
{
	static const char *const texts[FILE_ALL + 1] = {
		[0] = "nothing",
		[FILE_READ] = "read",
		[FILE_WRITE] = "write",
		[FILE_READ | FILE_WRITE] = "read, write",
		[FILE_EXEC] = "execute",
		[FILE_READ | FILE_EXEC] = "read, execute",
		[FILE_WRITE | FILE_EXEC] = "write, execute",
		[FILE_ALL] = "read, write, execute",
	};

	return texts[rights & FILE_ALL];
}
