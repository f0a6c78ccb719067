/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"
#include "policy/files.h"
#include "policy/net_address.h"
#include "policy/net_rule.h"

static int refuse(struct err *err, const char *text, const char *why)
{
	return err_say(err, ERR_VALIDATION, -EINVAL, "%.80s: %s", text, why);
}

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "take it");
}

static void rule_done(struct net_rule *rule)
{
	free(rule->name);
	free(rule->origin);
}

static void bind_done(struct net_bind *bind)
{
	free(bind->origin);
}

static void unix_done(struct net_unix *un)
{
	free(un->name);
	free(un->origin);
}

static void drop_rules(struct net_policy *policy)
{
	for (size_t i = 0; i < policy->rule_count; i++)
		rule_done(&policy->rules[i]);
	policy->rule_count = 0;
}

static void drop_binds(struct net_policy *policy)
{
	for (size_t i = 0; i < policy->bind_count; i++)
		bind_done(&policy->binds[i]);
	policy->bind_count = 0;
}

static void drop_unixes(struct net_policy *policy)
{
	for (size_t i = 0; i < policy->unix_count; i++)
		unix_done(&policy->unixes[i]);
	policy->unix_count = 0;
}

void net_policy_done(struct net_policy *policy)
{
	drop_rules(policy);
	drop_binds(policy);
	drop_unixes(policy);
	free(policy->rules);
	free(policy->binds);
	free(policy->unixes);
	*policy = (struct net_policy){ 0 };
}

/* ---- adding ----------------------------------------------------------------------------------------- */

/* Takes over rule->name. */
static int add_rule(struct net_policy *policy, struct net_rule *rule, const char *origin,
		    unsigned int level, struct err *err)
{
	struct net_rule *grown =
		reallocarray(policy->rules, policy->rule_count + 1, sizeof(*grown));

	if (grown)
		policy->rules = grown;
	rule->origin = strdup(origin);
	rule->level = level;
	if (!grown || !rule->origin) {
		rule_done(rule);
		return no_memory(err);
	}
	grown[policy->rule_count++] = *rule;
	return 0;
}

/* Nothing is resolved for it: it is where it always is. */
static int add_localhost(struct net_policy *policy, struct net_rule *rule, const char *origin,
			 unsigned int level, struct err *err)
{
	static const char *const addresses[] = { "127.0.0.1", "::1" };
	int r = 0;

	free(take_ptr(&rule->name));
	for (size_t i = 0; i < 2 && !r; i++) {
		net_address_parse(addresses[i], &rule->address);
		rule->prefix = (uint8_t)net_address_bits(&rule->address);
		r = add_rule(policy, rule, origin, level, err);
	}
	return r;
}

int net_policy_allow(struct net_policy *policy, const char *text, const char *origin,
		     unsigned int level, struct err *err)
{
	struct net_rule rule = { 0 };
	int r = net_rule_parse(text, &rule, err);

	if (r < 0)
		return r;
	if (policy->rule_count + 2 > NET_RULES_MAX) {
		free(rule.name);
		return err_say(err, ERR_VALIDATION, -E2BIG, "%.80s: more than %d network rules",
			       text, NET_RULES_MAX);
	}
	if (rule.name && !rule.suffix && !strcmp(rule.name, "localhost"))
		return add_localhost(policy, &rule, origin, level, err);
	return add_rule(policy, &rule, origin, level, err);
}

int net_policy_bind(struct net_policy *policy, const char *text, const char *origin,
		    unsigned int level, struct err *err)
{
	struct net_bind *grown;
	uint16_t port;

	if (net_port_parse(text, strlen(text), &port) < 0)
		return refuse(err, text, "not a port from 1 to 65535");
	if (policy->bind_count == NET_BINDS_MAX)
		return err_say(err, ERR_VALIDATION, -E2BIG,
			       "%.80s: more than %d ports to listen on", text, NET_BINDS_MAX);
	grown = reallocarray(policy->binds, policy->bind_count + 1, sizeof(*grown));
	if (!grown)
		return no_memory(err);
	policy->binds = grown;
	grown += policy->bind_count++;
	*grown = (struct net_bind){ .port = port, .origin = strdup(origin), .level = level };
	return grown->origin ? 0 : no_memory(err);
}

static const char *check_unix(const char *text)
{
	if (text[0] == '@')
		return !text[1] || strlen(text + 1) > NET_ABSTRACT_MAX
			       ? "not the name of an abstract socket"
			       : NULL;
	if (text[0] != '/' && strncmp(text, "~/", 2) != 0)
		return "neither an absolute path nor @NAME";
	return strlen(text) > 4095 ? "too long for a path" : NULL;
}

int net_policy_unix(struct net_policy *policy, const char *text, const char *origin,
		    unsigned int level, struct err *err)
{
	const char *why = check_unix(text);
	struct net_unix *grown;

	if (why)
		return refuse(err, text, why);
	if (policy->unix_count == NET_UNIX_MAX)
		return err_say(err, ERR_VALIDATION, -E2BIG, "%.80s: more than %d unix sockets",
			       text, NET_UNIX_MAX);
	grown = reallocarray(policy->unixes, policy->unix_count + 1, sizeof(*grown));
	if (!grown)
		return no_memory(err);
	policy->unixes = grown;
	grown += policy->unix_count++;
	*grown = (struct net_unix){
		.name = strdup(text + (text[0] == '@')),
		.abstract = text[0] == '@',
		.origin = strdup(origin),
		.level = level,
	};
	return grown->name && grown->origin ? 0 : no_memory(err);
}

/* ---- levels ----------------------------------------------------------------------------------------- */

void net_policy_cut(struct net_policy *policy, unsigned int level)
{
	size_t kept = 0;

	for (size_t i = 0; i < policy->rule_count; i++) {
		if (policy->rules[i].level < level)
			rule_done(&policy->rules[i]);
		else
			policy->rules[kept++] = policy->rules[i];
	}
	policy->rule_count = kept;
	kept = 0;
	for (size_t i = 0; i < policy->bind_count; i++) {
		if (policy->binds[i].level < level)
			bind_done(&policy->binds[i]);
		else
			policy->binds[kept++] = policy->binds[i];
	}
	policy->bind_count = kept;
}

/* Whoever of the command line said what implies Mode=allow; NULL: nobody. */
static const char *said_allow(const struct net_policy *policy)
{
	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].level == FILE_LEVEL_COMMAND_LINE)
			return policy->rules[i].origin;
	for (size_t i = 0; i < policy->bind_count; i++)
		if (policy->binds[i].level == FILE_LEVEL_COMMAND_LINE)
			return policy->binds[i].origin;
	return NULL;
}

/* An exception that is of no use; a profile's is none where the command line lifts the policy. */
static const char *idle_unix(const struct net_policy *policy)
{
	if (policy->mode == NET_NONE || policy->mode == NET_ALLOW)
		return NULL;
	for (size_t i = 0; i < policy->unix_count; i++)
		if (policy->unixes[i].level == FILE_LEVEL_COMMAND_LINE ||
		    (policy->said == NET_UNSAID && policy->mode == NET_UNSAID))
			return policy->unixes[i].origin;
	return NULL;
}

int net_policy_settle(struct net_policy *policy, struct err *err)
{
	enum net_mode said = policy->said;
	const char *allow = said_allow(policy), *idle;

	if (allow && said != NET_UNSAID && said != NET_ALLOW)
		return err_say(err, ERR_VALIDATION, -EINVAL, "%s contradicts --net %s", allow,
			       net_mode_name(said));
	if (said != NET_UNSAID)
		policy->mode = said;
	else if (allow)
		policy->mode = NET_ALLOW;
	idle = idle_unix(policy);
	if (idle)
		return err_say(err, ERR_VALIDATION, -EINVAL,
			       "%s: means something beside --net none or --net allow only", idle);

	if (policy->mode != NET_ALLOW) {
		drop_rules(policy);
		drop_binds(policy);
	}
	if (policy->mode != NET_ALLOW && policy->mode != NET_NONE)
		drop_unixes(policy);
	return 0;
}

/* ---- asking ----------------------------------------------------------------------------------------- */

bool net_policy_has_names(const struct net_policy *policy)
{
	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].name)
			return true;
	return false;
}

static bool covers(const struct net_rule *rule, const char *host, size_t len)
{
	size_t own = strlen(rule->name);

	if (rule->suffix)
		return len > own + 1 && host[len - own - 1] == '.' &&
		       !strncasecmp(host + len - own, rule->name, own);
	return len == own && !strncasecmp(host, rule->name, own);
}

const struct net_rule *net_name_admitted(const struct net_policy *policy, const char *host,
					 size_t *at)
{
	size_t len = strlen(host);

	if (len && host[len - 1] == '.')
		len--;
	while (*at < policy->rule_count) {
		const struct net_rule *rule = &policy->rules[(*at)++];

		if (rule->name && covers(rule, host, len))
			return rule;
	}
	return NULL;
}

bool net_address_admitted(const struct net_policy *policy, const struct net_address *address,
			  enum net_protocol protocol, uint16_t port)
{
	const struct net_guard *guard = net_guarded(address);

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct net_rule *rule = &policy->rules[i];

		if (!rule->name && rule->protocol == protocol && rule->first <= port &&
		    port <= rule->last && (!guard || rule->prefix >= guard->prefix) &&
		    net_address_within(address, &rule->address, rule->prefix))
			return true;
	}
	return false;
}

const char *net_mode_name(enum net_mode mode)
{
	static const char *const names[] = {
		[NET_UNSAID] = "host",
		[NET_NONE] = "none",
		[NET_ALLOW] = "allow",
		[NET_HOST] = "host",
	};

	return names[mode];
}

const char *net_protocol_name(enum net_protocol protocol)
{
	return protocol == NET_UDP ? "udp" : "tcp";
}

void net_rule_text(const struct net_rule *rule, char buf[NET_RULE_TEXT])
{
	char address[NET_ADDRESS_TEXT] = "", prefix[8] = "", ports[16] = "";
	bool all = rule->first == 1 && rule->last == UINT16_MAX;
	bool six = !rule->name && rule->address.version == 6 && !all;

	if (!rule->name)
		net_address_text(&rule->address, address);
	if (!rule->name && rule->prefix < net_address_bits(&rule->address))
		snprintf(prefix, sizeof(prefix), "/%d", rule->prefix);
	if (!all && rule->first == rule->last)
		snprintf(ports, sizeof(ports), ":%u", rule->first);
	else if (!all)
		snprintf(ports, sizeof(ports), ":%u-%u", rule->first, rule->last);
	snprintf(buf, NET_RULE_TEXT, "%s%s%s%s%s%s%s", rule->suffix ? "*." : "", six ? "[" : "",
		 rule->name ? rule->name : address, prefix, six ? "]" : "", ports,
		 rule->protocol == NET_UDP ? "/udp" : "");
}
