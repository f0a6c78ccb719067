/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/confine.h"

#include <stdio.h>
#include <string.h>

#include "kern/confine_plan.h"

/* Whether what holds above an entry that is not there yet is what its rule says. */
static void judge_entry(const struct file_policy *policy, const struct file_rule *r,
			struct confine_limits *out)
{
	const struct file_rule *above = confine_plan_rule(policy, r->path, strlen(r->path));
	unsigned int holds = above ? above->rights : FILE_ALL;
	bool narrower = holds & ~r->rights, wider = r->rights & ~holds;

	if (r->optional) {
		out->absent_at_start += narrower || wider;
		return;
	}
	out->future |= narrower;
	out->ungrantable |= wider;
	if ((narrower || wider) && !*out->first)
		snprintf(out->first, sizeof(out->first), "%s", r->written);
}

/* Each mask is replaceable until confine_freeze says otherwise. */
static void judge_object(const struct file_policy *policy, size_t index, struct confine_limits *out)
{
	const struct file_rule *r = &policy->rules[index];

	if (!confine_plan_masked(policy, index))
		return;
	if (!out->replaceable++)
		snprintf(out->first_replaceable, sizeof(out->first_replaceable), "%s", r->written);
}

void confine_judge(const struct file_policy *policy, struct confine_limits *out)
{
	*out = (struct confine_limits){ 0 };
	for (size_t i = 0; i < policy->count; i++) {
		const struct file_rule *r = &policy->rules[i];

		switch (r->reach) {
		case FILE_OBJECT:
			judge_object(policy, i, out);
			break;
		case FILE_ABSENT:
			out->absent_at_start++;
			break;
		case FILE_ENTRY:
			judge_entry(policy, r, out);
			break;
		case FILE_ANYWHERE:
			out->anywhere = true;
			if (!*out->first)
				snprintf(out->first, sizeof(out->first), "%s", r->written);
			break;
		}
	}
}
