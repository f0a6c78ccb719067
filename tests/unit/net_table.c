/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/net_address.h"
#include "policy/net_table.h"

static void allow(struct net_policy *policy, const char *text)
{
	struct err err = { 0 };

	if (net_policy_allow(policy, text, "x", 1, &err) < 0)
		fail_msg("%s", err.text);
}

static void make(struct net_table *table, const struct net_policy *policy)
{
	struct err err = { 0 };

	if (net_table_make(table, policy, &err) < 0)
		fail_msg("%s", err.text);
}

/* As the kernel half does: the longest prefix alone. */
static bool looked_up(const struct net_table *table, const struct net_address *address,
		      enum net_protocol protocol, uint16_t port)
{
	const struct net_row *row = NULL;

	for (size_t i = 0; i < table->count; i++)
		if ((!row || table->rows[i].prefix > row->prefix) &&
		    net_address_within(address, &table->rows[i].address, table->rows[i].prefix))
			row = &table->rows[i];
	for (size_t i = 0; row && i < row->count; i++)
		if (row->ranges[i].protocol == protocol && row->ranges[i].first <= port &&
		    port <= row->ranges[i].last)
			return true;
	return false;
}

static void one_row_has_what_all_rules_around_it_admit(void **state)
{
	struct net_policy policy = { 0 };
	struct net_table table;

	(void)state;
	allow(&policy, "192.0.2.0/24:80-90");
	allow(&policy, "192.0.2.7:91-95");
	allow(&policy, "192.0.2.7:443");
	allow(&policy, "192.0.2.7:53/udp");
	allow(&policy, "example.org:22");
	make(&table, &policy);
	assert_int_equal(table.count, 2);
	assert_int_equal(table.rows[1].prefix, 32);
	assert_int_equal(table.rows[1].count, 3);
	assert_int_equal(table.rows[1].ranges[0].first, 80);
	assert_int_equal(table.rows[1].ranges[0].last, 95);
	net_table_done(&table);
	net_policy_done(&policy);
}

/* Whatever the rules are, the row of the longest prefix says what all rules together say. */
static void rows_agree_with_rules(void **state)
{
	static const char *const nets[] = { "0.0.0.0/0",      "10.0.0.0/8",    "10.1.0.0/16",
					    "169.254.0.0/16", "127.0.0.1",     "192.0.2.0/24",
					    "192.0.2.128/25", "192.0.2.200",   "::/0",
					    "fc00::/7",	      "2001:db8::/32", "64:ff9b::/96" };
	static const char *const probes[] = {
		"10.1.2.3",    "10.2.2.3",  "169.254.169.254",	 "169.254.1.1",
		"127.0.0.1",   "127.0.0.2", "192.0.2.200",	 "192.0.2.129",
		"192.0.2.1",   "8.8.8.8",   "fd00::1",		 "fd00:ec2::254",
		"2001:db8::1", "::1",	    "64:ff9b::10.0.0.1", "64:ff9b::8.8.8.8",
		"2600::1",     "0.0.0.0"
	};
	size_t count = sizeof(nets) / sizeof(nets[0]);

	(void)state;
	srand(1);
	for (int round = 0; round < 300; round++) {
		struct net_policy policy = { 0 };
		struct net_table table;

		for (int i = rand() % 8; i >= 0; i--) {
			int first = 1 + rand() % 8;
			char text[64];

			snprintf(text, sizeof(text), "[%s]:%d-%d%s", nets[rand() % (int)count],
				 first, first + rand() % 4, rand() % 2 ? "/udp" : "");
			if (!strchr(text, ':') || strchr(text, '.') < strchr(text, ':'))
				snprintf(text, sizeof(text), "%s:%d%s", nets[rand() % 8], first,
					 rand() % 2 ? "/udp" : "");
			allow(&policy, text);
		}
		make(&table, &policy);
		for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
			struct net_address address;

			assert_true(net_address_parse(probes[i], &address));
			for (uint16_t port = 1; port < 14; port++)
				assert_int_equal(looked_up(&table, &address, NET_TCP, port),
						 net_address_admitted(&policy, &address, NET_TCP,
								      port));
		}
		net_table_done(&table);
		net_policy_done(&policy);
	}
}

static void too_many_ranges_at_one_address_are_refused(void **state)
{
	struct net_policy policy = { 0 };
	struct net_table table;
	struct err err = { 0 };
	char text[32];

	(void)state;
	for (int i = 0; i < NET_TABLE_RANGES; i++) {
		snprintf(text, sizeof(text), "192.0.2.1:%d", 10 + 2 * i);
		allow(&policy, text);
	}
	make(&table, &policy);
	net_table_done(&table);
	allow(&policy, "192.0.2.0/24:9000");
	assert_int_equal(net_table_make(&table, &policy, &err), -E2BIG);
	assert_non_null(strstr(err.text, "192.0.2.1/32"));
	assert_int_equal(table.count, 0);
	net_policy_done(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_row_has_what_all_rules_around_it_admit),
		cmocka_unit_test(rows_agree_with_rules),
		cmocka_unit_test(too_many_ranges_at_one_address_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
