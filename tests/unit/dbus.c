/* SPDX-License-Identifier: Apache-2.0 */
/* The D-Bus wire format: what we write byte for byte, what we read whatever it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kern/dbus.h"

static void values_are_aligned_to_their_own_size(void **state)
{
	struct dbus_body b = { .len = 0 };
	uint64_t big;
	uint32_t len;

	(void)state;
	dbus_body_u32(&b, 1);
	dbus_body_u64(&b, 0x1122334455667788ULL);
	assert_int_equal(b.len, 16);
	memcpy(&big, b.bytes + 8, sizeof(big));
	assert_true(big == 0x1122334455667788ULL);
	dbus_body_string(&b, "abc");
	assert_int_equal(b.len, 16 + 4 + 4);
	memcpy(&len, b.bytes + 16, sizeof(len));
	assert_int_equal(len, 3);
	assert_string_equal(b.bytes + 20, "abc");
	dbus_body_signature(&b, "as");
	assert_memory_equal(b.bytes + 24, "\2as", 4);
	dbus_body_struct(&b);
	assert_int_equal(b.len, 32);
	assert_false(b.full);
}

/* The padding before the first element does not count. */
static void the_length_of_an_array_counts_from_its_first_element(void **state)
{
	struct dbus_body b = { .len = 0 };
	size_t mark = dbus_body_array(&b, 8);
	uint32_t len;

	(void)state;
	dbus_body_u64(&b, 5);
	dbus_body_array_end(&b, mark, 8);
	memcpy(&len, b.bytes, sizeof(len));
	assert_int_equal(len, 8);
	assert_int_equal(b.len, 16);

	mark = dbus_body_array(&b, 8);
	dbus_body_array_end(&b, mark, 8);
	memcpy(&len, b.bytes + 16, sizeof(len));
	assert_int_equal(len, 0);
	assert_int_equal(b.len, 24);
}

static void what_does_not_fit_is_marked_and_never_overruns(void **state)
{
	struct {
		struct dbus_body b;
		char guard[8];
	} s = { .guard = "guarded" };

	(void)state;
	for (int i = 0; i < DBUS_MESSAGE_MAX; i++)
		dbus_body_string(&s.b, "0123456789");
	assert_true(s.b.full);
	assert_true(s.b.len <= DBUS_MESSAGE_MAX);
	dbus_body_array_end(&s.b, 4, 8);
	assert_string_equal(s.guard, "guarded");
}

static void a_call_is_written_as_the_specification_says(void **state)
{
	static const struct dbus_method m = { .path = "/a", .interface = "i.f", .member = "M" };
	static const char expected[] = "l\1\0\1"
				       "\0\0\0\0"
				       "\7\0\0\0"
				       "\52\0\0\0"
				       "\1\1o\0"
				       "\2\0\0\0"
				       "/a\0"
				       "\0\0\0\0\0"
				       "\2\1s\0"
				       "\3\0\0\0"
				       "i.f\0"
				       "\0\0\0\0"
				       "\3\1s\0"
				       "\1\0\0\0"
				       "M\0"
				       "\0\0\0\0\0\0";
	struct dbus_body b = { .len = 0 };
	struct dbus_reply reply;

	(void)state;
	dbus_header(&b, &m, 7, 0);
	assert_int_equal(b.len % 8, 0);
	if (b.bytes[0] == 'l')
		assert_memory_equal(b.bytes, expected, 16 + 42);
	assert_int_equal(dbus_parse(b.bytes, b.len, &reply), 0);
	assert_int_equal(reply.kind, DBUS_CALL);
}

/* An error as a peer sends it: made with our own writer, its kind and fields then set. */
static size_t make_error(struct dbus_body *b)
{
	static const char fields[] = "\5\1u\0"
				     "\52\0\0\0"
				     "\4\1s\0"
				     "\5\0\0\0"
				     "a.B.C\0\0";
	static const char head[] = "l\3\1\1"
				   "\10\0\0\0"
				   "\11\0\0\0"
				   "\26\0\0\0";

	memset(b, 0, sizeof(*b));
	memcpy(b->bytes, head, 16);
	memcpy(b->bytes + 16, fields, 22);
	memcpy(b->bytes + 40,
	       "\3\0\0\0"
	       "why",
	       8);
	b->len = 48;
	return b->len;
}

static void an_error_is_read_with_its_name_and_text(void **state)
{
	struct dbus_body b;
	struct dbus_reply reply;
	size_t len = make_error(&b);

	(void)state;
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		skip();
	assert_int_equal(dbus_parse(b.bytes, len, &reply), 0);
	assert_int_equal(reply.kind, DBUS_ERROR);
	assert_int_equal(reply.reply_serial, 42);
	assert_string_equal(reply.error_name, "a.B.C");
	assert_string_equal(reply.text, "why");
}

/* Every prefix and every changed byte: an answer or -EPROTO, under the sanitizers no more than that. */
static void a_damaged_message_is_refused_or_read_within_its_bounds(void **state)
{
	struct dbus_body b;
	struct dbus_reply reply;
	size_t len = make_error(&b);

	(void)state;
	for (size_t cut = 0; cut < len; cut++) {
		char *copy = malloc(cut ? cut : 1);

		memcpy(copy, b.bytes, cut);
		assert_int_not_equal(dbus_parse(copy, cut, &reply), 1);
		free(copy);
	}
	assert_int_equal(dbus_parse(b.bytes, 15, &reply), -EPROTO);
	for (size_t at = 0; at < len; at++)
		for (int value = 0; value < 256; value += 5) {
			char *copy = malloc(len);

			memcpy(copy, b.bytes, len);
			copy[at] = (char)value;
			dbus_parse(copy, len, &reply);
			assert_non_null(memchr(reply.error_name, 0, sizeof(reply.error_name)));
			assert_non_null(memchr(reply.text, 0, sizeof(reply.text)));
			free(copy);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_aligned_to_their_own_size),
		cmocka_unit_test(the_length_of_an_array_counts_from_its_first_element),
		cmocka_unit_test(what_does_not_fit_is_marked_and_never_overruns),
		cmocka_unit_test(a_call_is_written_as_the_specification_says),
		cmocka_unit_test(an_error_is_read_with_its_name_and_text),
		cmocka_unit_test(a_damaged_message_is_refused_or_read_within_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
