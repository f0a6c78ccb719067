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
