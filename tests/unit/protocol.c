/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/event.h"
#include "serve/protocol.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int parse(const char *text, struct request *r, struct err *err)
{
	return protocol_parse_request(text, strlen(text), r, err);
}

static void every_request_survives_the_way(void **state)
{
	(void)state;
	for (int op = 0; op < REQUEST__COUNT; op++) {
		struct request sent = { .op = (enum request_op)op }, got;
		unsigned int keys = request_table[op].keys;
		json_t *json;
		char *text;

		sent.signal = keys & REQUEST_KEY_SIGNAL ? 10 : 0;
		sent.tree = keys & REQUEST_KEY_TREE;
		sent.follow = keys & REQUEST_KEY_FOLLOW;
		sent.offset[0] = keys & REQUEST_KEY_STDOUT ? 5000000000 : 0;
		sent.offset[1] = keys & REQUEST_KEY_STDERR ? 7 : 0;
		sent.has_grace = keys & REQUEST_KEY_GRACE;
		sent.grace_ns = keys & REQUEST_KEY_GRACE ? 1500000000 : 0;
		if (keys & REQUEST_KEY_LIMITS) {
			sent.has_limit[LIMIT_MEMORY] = sent.has_limit[LIMIT_SWAP] = true;
			sent.limits[LIMIT_MEMORY] = 1 << 30;
		}
		json = protocol_request(&sent);
		text = json_dumps(json, JSON_COMPACT);
		if (parse(text, &got, NULL))
			fail_msg("%s", text);
		assert_memory_equal(&sent, &got, sizeof(got));
		free(text);
		json_decref(json);
	}
}

static void a_request_with_anything_wrong_is_refused_by_name(void **state)
{
	static const struct {
		const char *text, *names;
	} rows[] = {
		{ "", "JSON object" },
		{ "[]", "JSON object" },
		{ "null", "JSON object" },
		{ "{\"op\":\"status\"} x", "JSON object" },
		{ "{\"op\":\"status\",\"op\":\"stop\"}", "JSON object" },
		{ "{}", "operation" },
		{ "{\"op\":7}", "operation" },
		{ "{\"op\":\"launch\"}", "operation" },
		{ "{\"op\":\"status\",\"extra\":1}", "'extra'" },
		{ "{\"op\":\"stop\",\"signal\":9}", "'signal'" },
		{ "{\"op\":\"signal\"}", "'signal'" },
		{ "{\"op\":\"signal\",\"signal\":0}", "'signal'" },
		{ "{\"op\":\"signal\",\"signal\":65}", "'signal'" },
		{ "{\"op\":\"signal\",\"signal\":\"9\"}", "'signal'" },
		{ "{\"op\":\"signal\",\"signal\":4294967305}", "'signal'" },
		{ "{\"op\":\"signal\",\"signal\":9,\"tree\":1}", "'tree'" },
		{ "{\"op\":\"stop\",\"grace_ns\":-1}", "'grace_ns'" },
		{ "{\"op\":\"stop\",\"grace_ns\":\"1s\"}", "'grace_ns'" },
		{ "{\"op\":\"terminate\",\"grace_ns\":1}", "'grace_ns'" },
		{ "{\"op\":\"logs\",\"stdout\":-1}", "'stdout'" },
		{ "{\"op\":\"logs\",\"stderr\":1.5}", "'stderr'" },
		{ "{\"op\":\"logs\",\"follow\":null}", "'follow'" },
		{ "{\"op\":\"update\"}", "'update'" },
		{ "{\"op\":\"update\",\"limits\":{}}", "'limits'" },
		{ "{\"op\":\"update\",\"limits\":[1]}", "'limits'" },
		{ "{\"op\":\"update\",\"limits\":{\"memory\":0}}", "'limits'" },
		{ "{\"op\":\"update\",\"limits\":{\"memory\":-5}}", "'limits'" },
		{ "{\"op\":\"update\",\"limits\":{\"memory\":\"1G\"}}", "'limits'" },
		{ "{\"op\":\"update\",\"limits\":{\"colour\":1}}", "'limits'" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		struct request r;

		if (parse(rows[i].text, &r, &err) != -EBADMSG || err.category != ERR_PROTOCOL ||
		    !strstr(err.text, rows[i].names))
			fail_msg("%s: %s", rows[i].text, err.text);
	}
}

static void a_request_beyond_the_bound_is_refused(void **state)
{
	size_t len = PROTOCOL_MAX + 1;
	char *text = malloc(len);
	struct request r;

	(void)state;
	memset(text, ' ', len);
	memcpy(text, "{\"op\":\"status\"}", 15);
	assert_int_equal(protocol_parse_request(text, len, &r, NULL), -EBADMSG);
	assert_int_equal(protocol_parse_request(text, len - 1, &r, NULL), 0);
	free(text);
}

static void swap_may_be_limited_to_nothing(void **state)
{
	struct request r;

	(void)state;
	assert_int_equal(parse("{\"op\":\"update\",\"limits\":{\"swap\":0}}", &r, NULL), 0);
	assert_true(r.has_limit[LIMIT_SWAP]);
	assert_int_equal(r.limits[LIMIT_SWAP], 0);
}

/* A process of the run with the owner's uid could loosen its limits or end the run with everything but a look. */
static void only_looking_is_allowed_from_inside(void **state)
{
	(void)state;
	for (int op = 0; op < REQUEST__COUNT; op++)
		assert_int_equal(request_table[op].permission == PERMISSION_OWNER,
				 op == REQUEST_STATUS || op == REQUEST_WHY ||
					 op == REQUEST_PROCESSES);
}

static void an_error_keeps_its_category_code_and_text(void **state)
{
	struct err err = { 0 }, got = { 0 };
	json_t *reply;

	(void)state;
	err_cannot(&err, "memory_cap", "no memory controller");
	reply = protocol_error(&err);
	assert_int_equal(protocol_reply_error(reply, &got), -EOPNOTSUPP);
	assert_int_equal(got.category, ERR_CANNOT_ENFORCE);
	assert_string_equal(got.text, "no memory controller");
	json_decref(reply);
}

static void a_reply_that_makes_no_sense_is_an_error(void **state)
{
	static const char *const rows[] = {
		"{}",
		"{\"ok\":false}",
		"{\"ok\":1}",
		"{\"error\":7}",
		"{\"ok\":false,\"error\":{\"category\":\"magic\",\"text\":7,\"code\":3}}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *reply = json_loads(rows[i], 0, NULL);

		assert_int_equal(protocol_reply_error(reply, NULL), -EBADMSG);
		json_decref(reply);
	}
}

static void bytes_come_through_a_chunk_as_they_were(void **state)
{
	char bytes[300], got[300];
	uint64_t offset;
	int stream;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		json_t *chunk = protocol_chunk(2, 1234567890123, bytes, len);

		assert_int_equal(protocol_chunk_bytes(chunk, &stream, &offset, got, sizeof(got)),
				 len);
		assert_memory_equal(bytes, got, len);
		assert_int_equal(stream, 2);
		assert_int_equal(offset, 1234567890123);
		json_decref(chunk);
	}
}

static void the_largest_chunk_fits_a_message(void **state)
{
	char *bytes = malloc(PROTOCOL_CHUNK), *text;
	json_t *chunk;

	(void)state;
	memset(bytes, 0xff, PROTOCOL_CHUNK);
	chunk = protocol_chunk(1, INT64_MAX, bytes, PROTOCOL_CHUNK);
	text = json_dumps(chunk, JSON_COMPACT);
	assert_true(strlen(text) <= PROTOCOL_MAX);
	free(text);
	free(bytes);
	json_decref(chunk);
}

static void bad_base64_is_refused(void **state)
{
	static const char *const rows[] = { "a",    "ab",	"abc",	 "=abc", "a===",
					    "ab=c", "ab==abcd", "ab\n=", "é==",	 "abcde" };
	char got[64];
	uint64_t offset;
	int stream;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *chunk = json_pack("{s:s, s:i, s:s}", "stream", "stdout", "offset", 0,
					  "base64", rows[i]);

		if (protocol_chunk_bytes(chunk, &stream, &offset, got, sizeof(got)) != -EBADMSG)
			fail_msg("'%s'", rows[i]);
		json_decref(chunk);
	}
}

static void a_chunk_larger_than_the_buffer_is_refused(void **state)
{
	json_t *chunk = protocol_chunk(1, 0, "abcdef", 6);
	char got[5];
	uint64_t offset;
	int stream;

	(void)state;
	assert_int_equal(protocol_chunk_bytes(chunk, &stream, &offset, got, sizeof(got)), -EBADMSG);
	json_decref(chunk);
}

/* ---- events ---- */

static const char *event_name(const json_t *event)
{
	return json_string_value(json_object_get(event, "event"));
}

static void a_crash_is_one_process_signaled(void **state)
{
	struct sbx_event e = {
		.kind = SBX_EVENT_EXIT, .pid = 7, .status = 11 | 0x80, .comm = "crash"
	};
	json_t *event = event_process("abcdefghij", "T", &e);

	(void)state;
	assert_string_equal(event_name(event), "process_signaled");
	assert_int_equal(json_integer_value(json_object_get(event, "signal")), 11);
	assert_true(json_is_true(json_object_get(event, "core_dumped")));
	json_decref(event);
	e.status = 3 << 8;
	event = event_process("abcdefghij", "T", &e);
	assert_string_equal(event_name(event), "process_exited");
	assert_int_equal(json_integer_value(json_object_get(event, "exit_code")), 3);
	assert_null(json_object_get(event, "signal"));
	json_decref(event);
}

static void a_name_that_is_not_utf8_does_not_lose_the_event(void **state)
{
	struct sbx_event e = { .kind = SBX_EVENT_EXEC, .pid = 7, .comm = "\xff\xfe" };
	json_t *event = event_process("abcdefghij", "T", &e);

	(void)state;
	assert_string_equal(event_name(event), "process_execed");
	assert_string_equal(json_string_value(json_object_get(event, "comm")),
			    "\xef\xbf\xbd\xef\xbf\xbd");
	json_decref(event);
}

static void a_result_says_what_happened_and_nothing_that_did_not(void **state)
{
	static const struct {
		const char *result, *first, *second;
	} rows[] = {
		{ "{\"outcome\":\"exited\",\"exit_code\":0,\"limit\":null}", "run_ended", NULL },
		{ "{\"outcome\":\"limit_exceeded\",\"limit\":{\"kind\":\"wall\"}}",
		  "limit_exceeded", "run_ended" },
		{ "{\"outcome\":\"internal_error\",\"limit\":null}", "internal_error",
		  "run_ended" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *result = json_loads(rows[i].result, 0, NULL);
		json_t *events = event_from_result(result);

		assert_int_equal(json_array_size(events), rows[i].second ? 2 : 1);
		assert_string_equal(event_name(json_array_get(events, 0)), rows[i].first);
		if (rows[i].second)
			assert_string_equal(event_name(json_array_get(events, 1)), rows[i].second);
		json_decref(events);
		json_decref(result);
	}
}

/* The names are a public contract (174): each is said by something, and by nothing else than its own. */
static void every_event_has_a_producer(void **state)
{
	static const struct sbx_event fork = { .kind = SBX_EVENT_FORK };
	static const struct sbx_event exec = { .kind = SBX_EVENT_EXEC };
	static const struct sbx_event exited = { .kind = SBX_EVENT_EXIT };
	static const struct sbx_event crashed = { .kind = SBX_EVENT_EXIT, .status = 6 };
	static const struct denied_item item = {
		.act = "read", .object = (char *)"/x", .rule = (char *)"", .hint = (char *)""
	};
	json_t *result = json_loads("{\"outcome\":\"internal_error\",\"limit\":{}}", 0, NULL);
	json_t *end = event_from_result(result);
	json_t *made[EVENT__COUNT] = {
		[EVENT_RUN_STARTED] = event_started("i", "t", 1),
		[EVENT_PROCESS_STARTED] = event_process("i", "t", &fork),
		[EVENT_PROCESS_EXECED] = event_process("i", "t", &exec),
		[EVENT_PROCESS_EXITED] = event_process("i", "t", &exited),
		[EVENT_PROCESS_SIGNALED] = event_process("i", "t", &crashed),
		[EVENT_DENIED] = event_denied("i", "t", &item),
		[EVENT_LIMIT_EXCEEDED] = json_incref(json_array_get(end, 0)),
		[EVENT_INTERNAL_ERROR] = json_incref(json_array_get(end, 1)),
		[EVENT_RUN_ENDED] = json_incref(json_array_get(end, 2)),
		[EVENT_DROPPED] = event_dropped(1),
	};

	(void)state;
	for (int i = 0; i < EVENT__COUNT; i++) {
		assert_string_equal(event_name(made[i]), event_names[i]);
		json_decref(made[i]);
	}
	json_decref(end);
	json_decref(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_survives_the_way),
		cmocka_unit_test(a_request_with_anything_wrong_is_refused_by_name),
		cmocka_unit_test(a_request_beyond_the_bound_is_refused),
		cmocka_unit_test(swap_may_be_limited_to_nothing),
		cmocka_unit_test(only_looking_is_allowed_from_inside),
		cmocka_unit_test(an_error_keeps_its_category_code_and_text),
		cmocka_unit_test(a_reply_that_makes_no_sense_is_an_error),
		cmocka_unit_test(bytes_come_through_a_chunk_as_they_were),
		cmocka_unit_test(the_largest_chunk_fits_a_message),
		cmocka_unit_test(bad_base64_is_refused),
		cmocka_unit_test(a_chunk_larger_than_the_buffer_is_refused),
		cmocka_unit_test(a_crash_is_one_process_signaled),
		cmocka_unit_test(a_name_that_is_not_utf8_does_not_lose_the_event),
		cmocka_unit_test(a_result_says_what_happened_and_nothing_that_did_not),
		cmocka_unit_test(every_event_has_a_producer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
