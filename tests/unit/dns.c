/* SPDX-License-Identifier: Apache-2.0 */
/* Queries, what an upstream says, and answers: by bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/dns.h"
#include "policy/net_address.h"

struct message {
	uint8_t bytes[4096];
	size_t len;
};

static void put(struct message *m, const void *bytes, size_t len)
{
	assert_true(m->len + len <= sizeof(m->bytes));
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}

static void put_16(struct message *m, unsigned int value)
{
	put(m, (const uint8_t[]){ (uint8_t)(value >> 8), (uint8_t)value }, 2);
}

static void put_name(struct message *m, const char *name)
{
	while (*name) {
		size_t n = strcspn(name, ".");
		uint8_t len = (uint8_t)n;

		put(m, &len, 1);
		put(m, name, n);
		name += n + (name[n] == '.');
	}
	put(m, "", 1);
}

static void put_header(struct message *m, unsigned int flags, unsigned int answers,
		       unsigned int additions)
{
	put_16(m, 0x1234);
	put_16(m, flags);
	put_16(m, 1);
	put_16(m, answers);
	put_16(m, 0);
	put_16(m, additions);
}

static struct message question(const char *name, unsigned int type, unsigned int udp_bytes)
{
	struct message m = { .len = 0 };

	put_header(&m, 0x0100, 0, udp_bytes ? 1 : 0);
	put_name(&m, name);
	put_16(&m, type);
	put_16(&m, 1);
	if (udp_bytes) {
		put(&m, "\0\0\x29", 3);
		put_16(&m, udp_bytes);
		put(&m, "\0\0\0\0\0\0", 6);
	}
	return m;
}

static struct dns_query query(const char *name, unsigned int type, unsigned int udp_bytes)
{
	struct message m = question(name, type, udp_bytes);
	enum dns_rcode rcode;
	struct dns_query q;

	assert_int_equal(dns_query_parse(m.bytes, m.len, &q, &rcode), 0);
	assert_int_equal(rcode, DNS_OK);
	return q;
}

static void put_record(struct message *m, const char *owner, unsigned int type, uint32_t ttl,
		       const void *data, size_t len)
{
	put_name(m, owner);
	put_16(m, type);
	put_16(m, 1);
	put_16(m, ttl >> 16);
	put_16(m, ttl & 0xffff);
	put_16(m, (unsigned int)len);
	put(m, data, len);
}

static void put_alias(struct message *m, const char *owner, const char *to, uint32_t ttl)
{
	struct message name = { .len = 0 };

	put_name(&name, to);
	put_record(m, owner, 5, ttl, name.bytes, name.len);
}

static struct message reply(const char *name, unsigned int type, unsigned int answers)
{
	struct message m = { .len = 0 };

	put_header(&m, 0x8180, answers, 0);
	put_name(&m, name);
	put_16(&m, type);
	put_16(&m, 1);
	return m;
}

static void a_query_says_name_type_and_size(void **state)
{
	struct dns_query q = query("API.Example.org", DNS_AAAA, 1400);

	(void)state;
	assert_string_equal(q.text, "api.example.org");
	assert_int_equal(q.id, 0x1234);
	assert_int_equal(q.type, DNS_AAAA);
	assert_int_equal(q.udp_bytes, 1400);
	assert_true(q.edns && q.recursion);
	q = query("", DNS_A, 0);
	assert_string_equal(q.text, "");
	assert_int_equal(q.udp_bytes, 512);
}

/* A label may hold any byte: none of them must look like a dot between two labels. */
static void odd_bytes_are_not_taken_for_another_name(void **state)
{
	static const uint8_t odd[] = "\x0b"
				     "example.org"
				     "\x03"
				     "a\0\\";
	struct message m = { .len = 0 };
	enum dns_rcode rcode;
	struct dns_query q;

	(void)state;
	put_header(&m, 0x0100, 0, 0);
	put(&m, odd, sizeof(odd));
	put_16(&m, DNS_A);
	put_16(&m, 1);
	assert_int_equal(dns_query_parse(m.bytes, m.len, &q, &rcode), 0);
	assert_int_equal(rcode, DNS_OK);
	assert_string_equal(q.text, "example\\046org.a\\000\\092");
}

static void what_is_no_query_is_dropped_or_refused(void **state)
{
	struct message m = question("example.org", DNS_A, 0);
	enum dns_rcode rcode;
	struct dns_query q;

	(void)state;
	for (size_t len = 0; len < 12; len++)
		assert_int_equal(dns_query_parse(m.bytes, len, &q, &rcode), -EBADMSG);
	for (size_t len = 12; len < m.len; len++) {
		assert_int_equal(dns_query_parse(m.bytes, len, &q, &rcode), 0);
		assert_int_equal(rcode, DNS_FORMERR);
	}
	m.bytes[2] |= 0x80; /* an answer: two servers would talk for ever */
	assert_int_equal(dns_query_parse(m.bytes, m.len, &q, &rcode), -EBADMSG);
	m.bytes[2] = 0x28; /* an update */
	assert_int_equal(dns_query_parse(m.bytes, m.len, &q, &rcode), 0);
	assert_int_equal(rcode, DNS_NOTIMP);
	m.bytes[2] = 1;
	m.bytes[5] = 2; /* two questions */
	assert_int_equal(dns_query_parse(m.bytes, m.len, &q, &rcode), 0);
	assert_int_equal(rcode, DNS_FORMERR);
}

static void pointers_that_lead_nowhere_end(void **state)
{
	static const uint8_t loops[][4] = {
		{ 0xc0, 12 }, { 1, 'a', 0xc0, 12 }, { 0xc0, 200 }, { 0xc0, 14 }
	};
	enum dns_rcode rcode;
	struct dns_query q;

	(void)state;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		struct message m = { .len = 0 };

		put_header(&m, 0x0100, 0, 0);
		put(&m, loops[i], 4);
		put_16(&m, DNS_A);
		put_16(&m, 1);
		assert_int_equal(dns_query_parse(m.bytes, m.len, &q, &rcode), 0);
		assert_int_equal(rcode, DNS_FORMERR);
	}
}

static void aliases_are_followed_in_any_order(void **state)
{
	struct dns_query q = query("www.Example.org", DNS_A, 0);
	struct message m = reply("www.example.org", DNS_A, 4);
	struct dns_answer a;

	(void)state;
	put_record(&m, "end.example.net", DNS_A, 300, "\xc0\0\x02\x01", 4);
	put_alias(&m, "middle.example.net", "end.example.net", 40);
	put_alias(&m, "WWW.example.org", "middle.example.net", 500);
	put_record(&m, "other.example.net", DNS_A, 1, "\xc0\0\x02\x02", 4); /* nobody asked */
	assert_int_equal(dns_answer_parse(m.bytes, m.len, &q, &a), 0);
	assert_int_equal(a.alias_count, 2);
	assert_int_equal(a.address_count, 1);
	assert_int_equal(a.ttl, 40);
	assert_memory_equal(a.addresses[0].bytes, "\xc0\0\x02\x01", 4);
}

static void a_circle_of_aliases_is_no_answer(void **state)
{
	struct dns_query q = query("a.example", DNS_A, 0);
	struct message m = reply("a.example", DNS_A, 2);
	struct dns_answer a;

	(void)state;
	put_alias(&m, "a.example", "b.example", 9);
	put_alias(&m, "b.example", "a.example", 9);
	assert_int_equal(dns_answer_parse(m.bytes, m.len, &q, &a), -EBADMSG);
}

static void only_the_answer_to_the_question_counts(void **state)
{
	struct dns_query q = query("a.example", DNS_A, 0);
	struct message m = reply("b.example", DNS_A, 1);
	struct dns_answer a;

	(void)state;
	put_record(&m, "a.example", DNS_A, 9, "\xc0\0\x02\x01", 4);
	assert_int_equal(dns_answer_parse(m.bytes, m.len, &q, &a), -EBADMSG);
	m = reply("a.example", DNS_AAAA, 0);
	assert_int_equal(dns_answer_parse(m.bytes, m.len, &q, &a), -EBADMSG);
	m = reply("a.example", DNS_A, 1);
	put_record(&m, "a.example", DNS_A, 9, "\xc0\0\x02", 3); /* too short for an address */
	assert_int_equal(dns_answer_parse(m.bytes, m.len, &q, &a), 0);
	assert_int_equal(a.address_count, 0);
	m.bytes[2] |= 2; /* cut */
	assert_int_equal(dns_answer_parse(m.bytes, m.len, &q, &a), -EBADMSG);
}

/* What was written is what is read again. */
static void answers_survive_the_way(void **state)
{
	struct dns_query q = query("www.example.org", DNS_AAAA, 1232);
	struct message m = reply("www.example.org", DNS_AAAA, 3);
	struct dns_answer first, second;
	uint8_t out[4096];
	size_t len;

	(void)state;
	put_alias(&m, "www.example.org", "end.example.net", 77);
	put_record(&m, "end.example.net", DNS_AAAA, 300,
		   "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	put_record(&m, "end.example.net", DNS_AAAA, 300,
		   "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02", 16);
	assert_int_equal(dns_answer_parse(m.bytes, m.len, &q, &first), 0);
	len = dns_answer_write(&q, &first, true, out, sizeof(out));
	assert_int_equal(dns_answer_parse(out, len, &q, &second), 0);
	assert_int_equal(second.address_count, 2);
	assert_int_equal(second.ttl, 77);
	assert_memory_equal(first.addresses, second.addresses, 2 * sizeof(first.addresses[0]));
	assert_memory_equal(out, "\x12\x34", 2);
}

static void what_does_not_fit_is_cut_over_udp_alone(void **state)
{
	struct dns_query q = query("www.example.org", DNS_AAAA, 0);
	struct dns_answer many = { .ttl = 1, .address_count = DNS_ADDRESSES_MAX }, got;
	uint8_t out[4096];
	size_t len;

	(void)state;
	for (size_t i = 0; i < DNS_ADDRESSES_MAX; i++)
		many.addresses[i] = net_address_v6((const uint8_t[16]){ 0x20, 1, 0x0d, 0xb8 });
	len = dns_answer_write(&q, &many, true, out, sizeof(out));
	assert_in_range(len, 12, 512);
	assert_true(out[2] & 2);
	assert_int_equal(out[7], 0);
	len = dns_answer_write(&q, &many, false, out, sizeof(out));
	assert_int_equal(dns_answer_parse(out, len, &q, &got), 0);
	assert_int_equal(got.address_count, DNS_ADDRESSES_MAX);
}

static void refusals_echo_the_question(void **state)
{
	struct dns_query q = query("No.Example", DNS_A, 4096);
	const struct dns_answer refused = { .rcode = DNS_REFUSED };
	uint8_t out[512];
	size_t len = dns_answer_write(&q, &refused, true, out, sizeof(out));

	(void)state;
	assert_int_equal(out[3] & 15, DNS_REFUSED);
	assert_memory_equal(out + 12,
			    "\x02No\x07"
			    "Example",
			    12);
	assert_int_equal(len, 12 + 12 + 4 + 11);
}

static void a_name_does_not_lead_to_guarded_ranges(void **state)
{
	static const char *const guarded[] = { "127.0.0.1", "10.1.2.3",	      "169.254.169.254",
					       "::1",	    "fd00:ec2::254",  "0.0.0.0",
					       "fe80::1",   "64:ff9b::7f00:1" };
	struct net_policy policy = { .mode = NET_ALLOW };
	struct net_address address;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(net_policy_allow(&policy, "example.org:443", "--allow-net", 100, &err), 0);
	for (size_t i = 0; i < sizeof(guarded) / sizeof(guarded[0]); i++) {
		assert_true(net_address_parse(guarded[i], &address));
		if (!dns_rebinds(&policy, &address))
			fail_msg("%s", guarded[i]);
	}
	assert_true(net_address_parse("93.184.216.34", &address));
	assert_false(dns_rebinds(&policy, &address));
	assert_int_equal(net_policy_allow(&policy, "10.1.0.0/16:443", "--allow-net", 100, &err), 0);
	assert_true(net_address_parse("10.1.2.3", &address));
	assert_false(dns_rebinds(&policy, &address));
	net_policy_done(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_says_name_type_and_size),
		cmocka_unit_test(odd_bytes_are_not_taken_for_another_name),
		cmocka_unit_test(what_is_no_query_is_dropped_or_refused),
		cmocka_unit_test(pointers_that_lead_nowhere_end),
		cmocka_unit_test(aliases_are_followed_in_any_order),
		cmocka_unit_test(a_circle_of_aliases_is_no_answer),
		cmocka_unit_test(only_the_answer_to_the_question_counts),
		cmocka_unit_test(answers_survive_the_way),
		cmocka_unit_test(what_does_not_fit_is_cut_over_udp_alone),
		cmocka_unit_test(refusals_echo_the_question),
		cmocka_unit_test(a_name_does_not_lead_to_guarded_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
