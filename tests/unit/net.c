/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/files.h"
#include "policy/net_address.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void allow(struct net_policy *policy, const char *text)
{
	struct err err = { 0 };

	if (net_policy_allow(policy, text, "--allow-net", FILE_LEVEL_COMMAND_LINE, &err) < 0)
		fail_msg("%s", err.text);
}

static void what_is_written_is_read_and_said_again(void **state)
{
	static const struct {
		const char *written, *said;
	} rows[] = {
		{ "192.0.2.1", "192.0.2.1" },
		{ "192.0.2.1:443", "192.0.2.1:443" },
		{ "192.0.2.1:443/tcp", "192.0.2.1:443" },
		{ "192.0.2.1/udp", "192.0.2.1/udp" },
		{ "10.0.0.0/8:53/udp", "10.0.0.0/8:53/udp" },
		{ "0.0.0.0/0", "0.0.0.0/0" },
		{ "10.0.0.0/8:8000-8010", "10.0.0.0/8:8000-8010" },
		{ "2001:db8::1", "2001:db8::1" },
		{ "2001:DB8:0::1", "2001:db8::1" },
		{ "[2001:db8::1]:https", "[2001:db8::1]:443" },
		{ "[2001:db8::]/32:1-2", "[2001:db8::/32]:1-2" },
		{ "[2001:db8::/32]:1-2", "[2001:db8::/32]:1-2" },
		{ "2001:db8::/32", "2001:db8::/32" },
		{ "::/0", "::/0" },
		{ "::ffff:192.0.2.1", "192.0.2.1" },
		{ "[::ffff:192.0.2.0/120]:1", "192.0.2.0/24:1" },
		{ "API.Example.ORG.:git", "api.example.org:9418" },
		{ "*.example.org", "*.example.org" },
		{ "my_host:1-65535", "my_host" },
		{ "xn--bcher-kva.example:80", "xn--bcher-kva.example:80" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net_policy policy = { 0 };
		char text[NET_RULE_TEXT];

		allow(&policy, rows[i].written);
		assert_int_equal(policy.rule_count, 1);
		net_rule_text(&policy.rules[0], text);
		assert_string_equal(text, rows[i].said);
		net_policy_done(&policy);
	}
}

static void bad_rules_are_refused_in_one_line_that_names_them(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "example.org:htps", "no port number, and no service that is known" },
		{ "example.org:0", "ports are 1 to 65535" },
		{ "example.org:1-65536", "ports are 1 to 65535" },
		{ "example.org:99999999999999999999", "no port number" },
		{ "example.org:", "no port number" },
		{ "example.org:-5", "no port number" },
		{ "example.org:5-", "no port number" },
		{ "example.org:20-10", "the range of ports is reversed" },
		{ "a.*.org", "'*' stands only first and alone" },
		{ "*example.org", "'*' stands only first and alone" },
		{ "www.*", "'*' stands only first and alone" },
		{ "*", "everywhere is 0.0.0.0/0 and ::/0" },
		{ "*:443", "everywhere is 0.0.0.0/0 and ::/0" },
		{ "*.", "neither a host's name" },
		{ "https://example.org", "a URL; write the host alone" },
		{ "https://example.org/a/udp", "a URL; write the host alone" },
		{ "example.org/path", "neither a host's name" },
		{ "user@example.org", "neither a host's name" },
		{ "exa mple.org", "neither a host's name" },
		{ "-a.org", "neither a host's name" },
		{ "a..org", "neither a host's name" },
		{ ".", "neither a host's name" },
		{ "", "neither a host's name" },
		{ "/udp", "neither a host's name" },
		{ ":80", "neither a host's name" },
		{ "b\303\274cher.example", "xn--" },
		{ "10.0.0", "neither an address nor a host's name" },
		{ "256.1.1.1", "neither an address nor a host's name" },
		{ "10.0.0.0/33", "the length of its prefix" },
		{ "10.0.0.0/", "the length of its prefix" },
		{ "10.0.0.0/-1", "the length of its prefix" },
		{ "10.0.0.1/8", "which network is meant" },
		{ "2001:db8::1/32", "which network is meant" },
		{ "::ffff:0.0.0.0/80", "write IPv4 networks as such" },
		{ "[2001:db8::1", "a bracket is not closed" },
		{ "[10.0.0.1]:80", "brackets stand around IPv6 addresses only" },
		{ "10.0.0.1:80/sctp", "no port number" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net_policy policy = { 0 };
		struct err err = { 0 };

		if (net_policy_allow(&policy, rows[i].text, "x", 1, &err) >= 0)
			fail_msg("'%s' is accepted", rows[i].text);
		if (strncmp(err.text, rows[i].text, strlen(rows[i].text)) != 0 ||
		    !strstr(err.text, rows[i].says))
			fail_msg("'%s' does not say '%s'", err.text, rows[i].says);
		assert_int_equal(err.category, ERR_VALIDATION);
		net_policy_done(&policy);
	}
}

static void rules_end_at_their_bound(void **state)
{
	struct net_policy policy = { 0 };
	struct err err = { 0 };
	char name[400];

	(void)state;
	while (policy.rule_count + 2 <= NET_RULES_MAX)
		allow(&policy, "192.0.2.1");
	assert_int_equal(net_policy_allow(&policy, "192.0.2.1", "x", 1, &err), -E2BIG);
	for (int i = 0; i < NET_BINDS_MAX; i++)
		assert_int_equal(net_policy_bind(&policy, "80", "x", 1, &err), 0);
	assert_int_equal(net_policy_bind(&policy, "80", "x", 1, &err), -E2BIG);
	for (int i = 0; i < NET_UNIX_MAX; i++)
		assert_int_equal(net_policy_unix(&policy, "@a", "x", 1, &err), 0);
	assert_int_equal(net_policy_unix(&policy, "@a", "x", 1, &err), -E2BIG);
	net_policy_done(&policy);

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_true(net_policy_allow(&policy, name, "x", 1, &err) < 0);
	for (int i = 50; i < 400; i += 51)
		name[i] = '.';
	name[254] = '\0';
	assert_true(net_policy_allow(&policy, name, "x", 1, &err) < 0);
	name[253] = '\0';
	assert_int_equal(net_policy_allow(&policy, name, "x", 1, &err), 0);
	net_policy_done(&policy);
}

static void binds_and_unix_sockets_are_checked(void **state)
{
	static const char *const bad_ports[] = { "0", "65536", "a", "1-2", "", "80/udp" };
	static const char *const bad_names[] = { "@", "a", "./a", "~a", "" };
	struct net_policy policy = { 0 };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(bad_ports); i++)
		if (net_policy_bind(&policy, bad_ports[i], "x", 1, &err) >= 0)
			fail_msg("%s", bad_ports[i]);
	for (size_t i = 0; i < COUNT(bad_names); i++)
		if (net_policy_unix(&policy, bad_names[i], "x", 1, &err) >= 0)
			fail_msg("%s", bad_names[i]);
	assert_int_equal(net_policy_bind(&policy, "http", "x", 1, &err), 0);
	assert_int_equal(policy.binds[0].port, 80);
	assert_int_equal(net_policy_unix(&policy, "~/a", "x", 1, &err), 0);
	assert_int_equal(net_policy_unix(&policy, "@a", "x", 1, &err), 0);
	assert_false(policy.unixes[0].abstract);
	assert_true(policy.unixes[1].abstract);
	assert_string_equal(policy.unixes[1].name, "a");
	net_policy_done(&policy);
}

static bool admitted(const struct net_policy *policy, const char *text, enum net_protocol protocol,
		     uint16_t port)
{
	struct net_address address;

	assert_true(net_address_parse(text, &address));
	return net_address_admitted(policy, &address, protocol, port);
}

static void guarded_ranges_take_a_rule_of_their_own(void **state)
{
	static const struct {
		const char *address, *own;
	} rows[] = {
		{ "127.0.0.1", "127.0.0.1" },
		{ "127.9.9.9", "127.0.0.0/8" },
		{ "::1", "::1" },
		{ "::ffff:127.0.0.1", "127.0.0.1" },
		{ "0.0.0.0", "0.0.0.0" },
		{ "::", "::" },
		{ "10.2.3.4", "10.0.0.0/8" },
		{ "172.31.0.1", "172.16.0.0/12" },
		{ "192.168.1.1", "192.168.1.0/24" },
		{ "169.254.1.1", "169.254.0.0/16" },
		{ "169.254.169.254", "169.254.169.254" },
		{ "fd00:ec2::254", "fd00:ec2::254" },
		{ "100.64.0.1", "100.64.0.0/10" },
		{ "100.100.100.200", "100.100.100.200" },
		{ "224.0.0.251", "224.0.0.0/4" },
		{ "255.255.255.255", "255.255.255.255" },
		{ "fe80::1", "fe80::/10" },
		{ "fc00::1", "fc00::/7" },
		{ "ff02::fb", "ff02::fb" },
		{ "64:ff9b::10.0.0.1", "64:ff9b::a00:0/104" },
		{ "2002:a00:1::1", "2002:a00::/24" },
		{ "::10.0.0.1", "::/96" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net_policy policy = { 0 };

		allow(&policy, "0.0.0.0/0");
		allow(&policy, "::/0");
		if (admitted(&policy, rows[i].address, NET_TCP, 80))
			fail_msg("%s is reached by a wider rule", rows[i].address);
		allow(&policy, rows[i].own);
		if (!admitted(&policy, rows[i].address, NET_TCP, 80))
			fail_msg("%s is not reached by its own rule", rows[i].address);
		net_policy_done(&policy);
	}
}

static void the_network_around_does_not_name_the_metadata_service(void **state)
{
	struct net_policy policy = { 0 };

	(void)state;
	allow(&policy, "169.254.0.0/16");
	allow(&policy, "fc00::/7");
	assert_true(admitted(&policy, "169.254.1.1", NET_TCP, 80));
	assert_false(admitted(&policy, "169.254.169.254", NET_TCP, 80));
	assert_true(admitted(&policy, "fd00::1", NET_TCP, 80));
	assert_false(admitted(&policy, "fd00:ec2::254", NET_TCP, 80));
	net_policy_done(&policy);
}

static void rules_add_up_by_protocol_and_port(void **state)
{
	struct net_policy policy = { 0 };

	(void)state;
	allow(&policy, "192.0.2.0/24:80-90");
	allow(&policy, "192.0.2.7:443");
	allow(&policy, "192.0.2.7:53/udp");
	allow(&policy, "localhost:5432");
	assert_true(admitted(&policy, "192.0.2.7", NET_TCP, 85));
	assert_true(admitted(&policy, "192.0.2.7", NET_TCP, 443));
	assert_true(admitted(&policy, "::ffff:192.0.2.7", NET_UDP, 53));
	assert_false(admitted(&policy, "192.0.2.7", NET_UDP, 85));
	assert_false(admitted(&policy, "192.0.2.8", NET_TCP, 443));
	assert_false(admitted(&policy, "192.0.3.7", NET_TCP, 85));
	assert_false(admitted(&policy, "2001:db8::1", NET_TCP, 85));
	assert_true(admitted(&policy, "127.0.0.1", NET_TCP, 5432));
	assert_true(admitted(&policy, "::1", NET_TCP, 5432));
	assert_false(admitted(&policy, "127.0.0.2", NET_TCP, 5432));
	net_policy_done(&policy);
}

static void names_cover_themselves_or_what_is_below_them(void **state)
{
	static const struct {
		const char *host;
		size_t rules;
	} rows[] = {
		{ "api.example.org", 2 },
		{ "API.EXAMPLE.ORG.", 2 },
		{ "x.api.example.org", 1 },
		{ "example.org", 0 },
		{ "badexample.org", 0 },
		{ ".example.org", 0 },
		{ "api.example.org.x", 0 },
		{ "", 0 },
		{ ".", 0 },
	};
	struct net_policy policy = { 0 };

	(void)state;
	allow(&policy, "192.0.2.1");
	assert_false(net_policy_has_names(&policy));
	allow(&policy, "api.example.org:443");
	allow(&policy, "*.example.org:80");
	assert_true(net_policy_has_names(&policy));
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t at = 0, found = 0;

		while (net_name_admitted(&policy, rows[i].host, &at))
			found++;
		if (found != rows[i].rules)
			fail_msg("%s: %zu", rows[i].host, found);
	}
	net_policy_done(&policy);
}

struct settling {
	enum net_mode profile, said, holds;
	bool allow, bind, un; /* of the command line */
	const char *says;
};

static void settle(const struct settling *row)
{
	struct net_policy policy = { .mode = row->profile };
	struct err err = { 0 };
	int r;

	if (row->profile == NET_ALLOW)
		net_policy_allow(&policy, "192.0.2.1", "profile", FILE_LEVEL_PROFILE, NULL);
	net_policy_unix(&policy, "/run/x", "profile", FILE_LEVEL_PROFILE, NULL);
	if (row->profile == NET_UNSAID)
		net_policy_done(&policy);
	policy.said = row->said;
	if (row->allow)
		allow(&policy, "192.0.2.2");
	if (row->bind)
		net_policy_bind(&policy, "80", "--allow-bind", FILE_LEVEL_COMMAND_LINE, NULL);
	if (row->un)
		net_policy_unix(&policy, "@x", "--allow-unix", FILE_LEVEL_COMMAND_LINE, NULL);
	r = net_policy_settle(&policy, &err);
	if (row->says ? r >= 0 || !strstr(err.text, row->says) : r < 0)
		fail_msg("profile %d, said %d: '%s'", row->profile, row->said, err.text);
	if (!row->says && policy.mode != row->holds)
		fail_msg("profile %d, said %d: %d", row->profile, row->said, policy.mode);
	if (!row->says && policy.mode != NET_ALLOW)
		assert_int_equal(policy.rule_count + policy.bind_count, 0);
	if (!row->says && policy.mode != NET_ALLOW && policy.mode != NET_NONE)
		assert_int_equal(policy.unix_count, 0);
	net_policy_done(&policy);
}

static void the_command_line_stands_over_the_profile(void **state)
{
	static const struct settling rows[] = {
		{ NET_UNSAID, NET_UNSAID, NET_UNSAID, false, false, false, NULL },
		{ NET_NONE, NET_UNSAID, NET_NONE, false, false, true, NULL },
		{ NET_ALLOW, NET_NONE, NET_NONE, false, false, true, NULL },
		{ NET_ALLOW, NET_HOST, NET_HOST, false, false, false, NULL },
		{ NET_HOST, NET_NONE, NET_NONE, false, false, false, NULL },
		{ NET_HOST, NET_UNSAID, NET_HOST, false, false, false, NULL },
		{ NET_NONE, NET_UNSAID, NET_ALLOW, true, false, false, NULL },
		{ NET_NONE, NET_UNSAID, NET_ALLOW, false, true, false, NULL },
		{ NET_UNSAID, NET_ALLOW, NET_ALLOW, true, true, true, NULL },
		{ NET_NONE, NET_NONE, 0, true, false, false, "--allow-net contradicts --net none" },
		{ NET_NONE, NET_HOST, 0, false, true, false,
		  "--allow-bind contradicts --net host" },
		{ NET_NONE, NET_HOST, 0, false, false, true, "--allow-unix: means something" },
		{ NET_UNSAID, NET_UNSAID, 0, false, false, true, "--allow-unix: means something" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		settle(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_and_said_again),
		cmocka_unit_test(bad_rules_are_refused_in_one_line_that_names_them),
		cmocka_unit_test(rules_end_at_their_bound),
		cmocka_unit_test(binds_and_unix_sockets_are_checked),
		cmocka_unit_test(guarded_ranges_take_a_rule_of_their_own),
		cmocka_unit_test(the_network_around_does_not_name_the_metadata_service),
		cmocka_unit_test(rules_add_up_by_protocol_and_port),
		cmocka_unit_test(names_cover_themselves_or_what_is_below_them),
		cmocka_unit_test(the_command_line_stands_over_the_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
