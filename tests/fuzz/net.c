/* SPDX-License-Identifier: Apache-2.0 */
/* Any word as a rule: refused in one line, or a rule that reads the same when it is said again. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "policy/net_address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void say_again(const struct net_rule *rule)
{
	char text[NET_RULE_TEXT], again[NET_RULE_TEXT];
	const struct net_guard *guard = net_guarded(&rule->address);
	struct net_policy policy = { 0 };

	must(rule->first && rule->first <= rule->last);
	net_rule_text(rule, text);
	must(!net_policy_allow(&policy, text, "x", 1, NULL) && policy.rule_count == 1);
	net_rule_text(&policy.rules[0], again);
	must(!strcmp(text, again));
	if (!rule->name && !(guard && rule->prefix < guard->prefix))
		must(net_address_admitted(&policy, &rule->address, rule->protocol, rule->last));
	net_policy_done(&policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct net_policy policy = { 0 };
	struct err err = { 0 };

	if (!text)
		return 0;
	if (net_policy_allow(&policy, text, "x", 1, &err) < 0)
		must(*err.text && text_valid(err.text, strlen(err.text)));
	for (size_t i = 0; i < policy.rule_count; i++)
		say_again(&policy.rules[i]);
	net_policy_bind(&policy, text, "x", 1, &err);
	net_policy_unix(&policy, text, "x", 1, &err);
	net_policy_done(&policy);
	free(text);
	return 0;
}
