/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/net_address.h"
#include "policy/net_rule.h"

#define HOST_TEXT 300 /* longer than any address, prefix or name */

/* Names of ports are few, so that a policy means the same on every host. */
static const struct {
	const char *name;
	uint16_t port;
} services[] = {
	{ "ftp", 21 },		{ "ssh", 22 },	   { "smtp", 25 },   { "domain", 53 },
	{ "dns", 53 },		{ "http", 80 },	   { "pop3", 110 },  { "ntp", 123 },
	{ "imap", 143 },	{ "ldap", 389 },   { "https", 443 }, { "submission", 587 },
	{ "ldaps", 636 },	{ "imaps", 993 },  { "pop3s", 995 }, { "mysql", 3306 },
	{ "postgresql", 5432 }, { "redis", 6379 }, { "git", 9418 },
};

static int refuse(struct err *err, const char *text, const char *why)
{
	return err_say(err, ERR_VALIDATION, -EINVAL, "%.80s: %s", text, why);
}

int net_port_parse(const char *text, size_t len, uint16_t *port)
{
	char word[16];
	uint64_t number;

	if (!len || len >= sizeof(word))
		return -EINVAL;
	memcpy(word, text, len);
	word[len] = '\0';
	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		if (strcmp(services[i].name, word) != 0)
			continue;
		*port = services[i].port;
		return 0;
	}
	if (num_u64(word, &number) < 0)
		return -EINVAL;
	if (!number || number > UINT16_MAX)
		return -ERANGE;
	*port = (uint16_t)number;
	return 0;
}

/* ---- the ports -------------------------------------------------------------------------------------- */

static const char *port_fault(int code)
{
	return code == -ERANGE
		       ? "ports are 1 to 65535"
		       : "no port number, and no service that is known here; write the number";
}

/* "443", "8000-8010", "https". */
static const char *parse_ports(struct net_rule *rule, const char *text)
{
	size_t len = strcspn(text, "-");
	int r = net_port_parse(text, len, &rule->first);

	if (r < 0)
		return port_fault(r);
	rule->last = rule->first;
	if (!text[len])
		return NULL;
	r = net_port_parse(text + len + 1, strlen(text + len + 1), &rule->last);
	if (r < 0)
		return port_fault(r);
	return rule->last < rule->first ? "the range of ports is reversed" : NULL;
}

/* ---- the host --------------------------------------------------------------------------------------- */

static bool label_valid(const char *label, size_t len)
{
	if (!len || len > 63 || label[0] == '-' || label[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)label[i]) && label[i] != '-' && label[i] != '_')
			return false;
	return true;
}

/* Resolvers read a last label that begins with a digit as part of an address. */
static const char *check_name(const char *name)
{
	const char *label = name;

	for (const char *at = name; *at; at++)
		if ((unsigned char)*at >= 0x80)
			return "not ASCII; write the name in its xn-- form";
	if (strlen(name) > NET_NAME_MAX)
		return "too long for a host's name";
	for (;;) {
		size_t len = strcspn(label, ".");

		if (strchr(label, '*') && strchr(label, '*') < label + len)
			return "'*' stands only first and alone: *.example.org";
		if (!label_valid(label, len))
			return "neither a host's name, an address nor a network";
		if (!label[len])
			break;
		label += len + 1;
	}
	return isdigit((unsigned char)*label) ? "neither an address nor a host's name" : NULL;
}

static const char *parse_name(struct net_rule *rule, char *name)
{
	size_t len = strlen(name);
	const char *why;

	if (!strcmp(name, "*"))
		return "'*' alone is not taken; everywhere is 0.0.0.0/0 and ::/0";
	rule->suffix = !strncmp(name, "*.", 2);
	if (rule->suffix)
		name += 2, len -= 2;
	if (len > 1 && name[len - 1] == '.')
		name[--len] = '\0';
	why = check_name(name);
	if (why)
		return why;
	for (char *at = name; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	rule->name = strdup(name);
	return rule->name ? NULL : "out of memory";
}

/* Bits behind the prefix would make it unclear which network is meant. */
static bool only_prefix(const struct net_address *address, unsigned int prefix)
{
	for (unsigned int bit = prefix; bit < net_address_bits(address); bit++)
		if (address->bytes[bit / 8] & 0x80 >> bit % 8)
			return false;
	return true;
}

/* Its slash is cut off `host`. */
static const char *parse_address(struct net_rule *rule, char *host, bool *is)
{
	char *slash = strchr(host, '/');
	uint64_t prefix;
	bool mapped;

	if (slash)
		*slash = '\0';
	*is = net_address_parse(host, &rule->address);
	if (!*is)
		return slash ? "neither a host's name, an address nor a network" : NULL;
	prefix = net_address_bits(&rule->address);
	mapped = rule->address.version == 4 && strchr(host, ':');
	if (slash && (num_u64(slash + 1, &prefix) < 0 ||
		      prefix > (mapped ? 128 : net_address_bits(&rule->address))))
		return "the length of its prefix is not of such an address";
	if (slash && mapped) {
		if (prefix < 96)
			return "write IPv4 networks as such";
		prefix -= 96;
	}
	rule->prefix = (uint8_t)prefix;
	if (!only_prefix(&rule->address, rule->prefix))
		return "has bits behind its prefix; which network is meant?";
	return NULL;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

/* Cuts "/udp" or "/tcp" off. */
static void cut_protocol(char *text, enum net_protocol *protocol)
{
	size_t len = strlen(text);

	*protocol = NET_TCP;
	if (len < 4 || (strcmp(text + len - 4, "/udp") != 0 && strcmp(text + len - 4, "/tcp") != 0))
		return;
	if (text[len - 3] == 'u')
		*protocol = NET_UDP;
	text[len - 4] = '\0';
}

/* Cuts ":PORT" off, and takes the brackets away; NULL: there is no port. */
static const char *cut_port(char *text, char **ports)
{
	char *colon = strchr(text, ':');
	char *close = strchr(text, ']');

	*ports = NULL;
	if (text[0] != '[') {
		if (!colon || strchr(colon + 1, ':'))
			return NULL; /* no port; or IPv6 without brackets, which has none */
		*ports = colon + 1;
		*colon = '\0';
		return NULL;
	}
	if (!close)
		return "a bracket is not closed";
	colon = strchr(close, ':');
	if (colon) {
		*ports = colon + 1;
		*colon = '\0';
	}
	/* "[2001:db8::]/32" and "[2001:db8::/32]" are both written. */
	memmove(close, close + 1, strlen(close));
	memmove(text, text + 1, strlen(text));
	return strchr(text, ':') ? NULL : "brackets stand around IPv6 addresses only";
}

static const char *parse(struct net_rule *rule, char *text)
{
	const char *why;
	char *ports;
	bool address;

	if (strstr(text, "://"))
		return "a URL; write the host alone, as in example.org:443";
	cut_protocol(text, &rule->protocol);
	why = cut_port(text, &ports);
	if (!why && ports)
		why = parse_ports(rule, ports);
	if (why)
		return why;
	why = parse_address(rule, text, &address);
	return why || address ? why : parse_name(rule, text);
}

int net_rule_parse(const char *text, struct net_rule *rule, struct err *err)
{
	char copy[HOST_TEXT];
	const char *why;

	rule->name = NULL;
	rule->suffix = false;
	rule->prefix = 0;
	rule->first = 1;
	rule->last = UINT16_MAX;
	if (strlen(text) >= sizeof(copy))
		return refuse(err, text, "too long for a host's name");
	memcpy(copy, text, strlen(text) + 1);
	why = parse(rule, copy);
	return why ? refuse(err, text, why) : 0;
}
