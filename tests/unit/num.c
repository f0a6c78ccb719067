/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/num.h"

#define SEC 1000000000ULL
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define UNTOUCHED 77

struct row {
	const char *text;
	int code; /* 0 or negative errno */
	uint64_t value;
};

typedef int parse_fn(const char *text, uint64_t *value, struct err *err);

static void check(parse_fn *parse, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *named = *rows[i].text ? rows[i].text : "''";
		struct err err = { 0 };
		uint64_t value = UNTOUCHED;
		int r = parse(rows[i].text, &value, &err);

		if (r != rows[i].code || value != (r ? UNTOUCHED : rows[i].value))
			fail_msg("'%s': %d and %llu, not %d and %llu", rows[i].text, r,
				 (unsigned long long)value, rows[i].code,
				 (unsigned long long)rows[i].value);
		if (r < 0 && strncmp(err.text, named, strlen(named)) != 0)
			fail_msg("'%s' is not named in: %s", rows[i].text, err.text);
	}
}

static void durations_are_exact_and_odd_ones_refused(void **state)
{
	static const struct row rows[] = {
		{ "30", 0, 30 * SEC },
		{ "1.5s", 0, SEC * 3 / 2 },
		{ "0.03", 0, SEC * 3 / 100 },
		{ "200ms", 0, 200000000 },
		{ "10us", 0, 10000 },
		{ "5ns", 0, 5 },
		{ "2m", 0, 120 * SEC },
		{ "1h", 0, 3600 * SEC },
		{ "1d", 0, 86400 * SEC },
		{ "1m30s", 0, 90 * SEC },
		{ "1h0m1s", 0, 3601 * SEC },
		{ "0m1s", 0, SEC },
		{ "0.3333333333333333333s", 0, 333333333 },
		{ "", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ ".5", -EINVAL, 0 },
		{ "1.", -EINVAL, 0 },
		{ "1..5", -EINVAL, 0 },
		{ "1,5", -EINVAL, 0 },
		{ "1m30", -EINVAL, 0 },
		{ "30s1m", -EINVAL, 0 },
		{ "1s1s", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "5 minutes", -EINVAL, 0 },
		{ "none", -EINVAL, 0 },
		{ "--", -EINVAL, 0 },
		{ "0", -EDOM, 0 },
		{ "0.0", -EDOM, 0 },
		{ "0h0m0s", -EDOM, 0 },
		{ "-1", -EDOM, 0 },
		{ "-5s", -EDOM, 0 },
		{ "0.0000000001", -EDOM, 0 },
		{ "53376d", -ERANGE, 0 },
		{ "99999999999999999999", -ERANGE, 0 },
		{ "18446744073709551615d", -ERANGE, 0 },
		{ "18446744073.709551616s", -ERANGE, 0 },
	};

	(void)state;
	check(num_duration, rows, COUNT(rows));
}

static void sizes_count_in_1024_and_odd_ones_are_refused(void **state)
{
	static const struct row rows[] = {
		{ "4096", 0, 4096 },
		{ "512B", 0, 512 },
		{ "64K", 0, 65536 },
		{ "64k", 0, 65536 },
		{ "64KB", 0, 65536 },
		{ "64KiB", 0, 65536 },
		{ "10mb", 0, 10 << 20 },
		{ "1.5G", 0, 3ULL << 29 },
		{ "2T", 0, 2ULL << 40 },
		{ "", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },
		{ "1.5", -EINVAL, 0 },
		{ "1KK", -EINVAL, 0 },
		{ "1KiBs", -EINVAL, 0 },
		{ "1BB", -EINVAL, 0 },
		{ "1Q", -EINVAL, 0 },
		{ "75%", -EINVAL, 0 },
		{ "1G ", -EINVAL, 0 },
		{ "0", -EDOM, 0 },
		{ "0K", -EDOM, 0 },
		{ "-1", -EDOM, 0 },
		{ "-1G", -EDOM, 0 },
		{ "0.0001K", -EDOM, 0 },
		{ "4096P", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "9223372036854775807", -ERANGE, 0 },
	};
	struct err err = { 0 };
	uint64_t value;

	(void)state;
	check(num_size, rows, COUNT(rows));
	num_size("75%", &value, &err);
	assert_non_null(strstr(err.text, "percentage"));
}

static void counts_are_whole_and_positive(void **state)
{
	static const struct row rows[] = {
		{ "1", 0, 1 },	       { "512", 0, 512 },
		{ "007", 0, 7 },       { "0", -EDOM, 0 },
		{ "-3", -EDOM, 0 },    { "1K", -EINVAL, 0 },
		{ "1.5", -EINVAL, 0 }, { "1.0", -EINVAL, 0 },
		{ "", -EINVAL, 0 },    { "many", -EINVAL, 0 },
		{ "5 ", -EINVAL, 0 },  { "18446744073709551616", -ERANGE, 0 },
	};

	(void)state;
	check(num_count, rows, COUNT(rows));
}

static void cpus_are_thousandths(void **state)
{
	static const struct row rows[] = {
		{ "2", 0, 2000 },	{ "0.5", 0, 500 },	 { "1.25", 0, 1250 },
		{ "250m", 0, 250 },	{ "0.001", 0, 1 },	 { "0", -EDOM, 0 },
		{ "0m", -EDOM, 0 },	{ "-1", -EDOM, 0 },	 { "0.0001", -ERANGE, 0 },
		{ "1.5m", -EINVAL, 0 }, { "m", -EINVAL, 0 },	 { "2 cpus", -EINVAL, 0 },
		{ "50%", -EINVAL, 0 },	{ "250mm", -EINVAL, 0 },
	};

	(void)state;
	check(num_cpus, rows, COUNT(rows));
}

static void signals_go_by_name_or_number(void **state)
{
	static const struct {
		const char *text;
		int code, sig;
	} rows[] = {
		{ "TERM", 0, SIGTERM },
		{ "SIGTERM", 0, SIGTERM },
		{ "sigkill", 0, SIGKILL },
		{ "15", 0, 15 },
		{ "1", 0, 1 },
		{ "64", 0, 64 },
		{ "RTMIN+1", 0, 35 },
		{ "0", -ERANGE, 0 },
		{ "65", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "SIG", -EINVAL, 0 },
		{ "-9", -EINVAL, 0 },
		{ "SIGSIGTERM", -EINVAL, 0 },
		{ "EXIT", -EINVAL, 0 },
		{ "RTMIN+99", -EINVAL, 0 },
		{ "4294967305", -ERANGE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int sig = UNTOUCHED, r = num_signal(rows[i].text, &sig, NULL);

		if (r != rows[i].code || sig != (r ? UNTOUCHED : rows[i].sig))
			fail_msg("'%s': %d, signal %d", rows[i].text, r, sig);
	}
}

static void plain_numbers_take_nothing_else(void **state)
{
	static const struct row rows[] = {
		{ "0", 0, 0 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "1.0", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t value = UNTOUCHED;
		int r = num_u64(rows[i].text, &value);

		if (r != rows[i].code || value != (r ? UNTOUCHED : rows[i].value))
			fail_msg("'%s': %d", rows[i].text, r);
	}
}

static void texts_are_short_and_exact(void **state)
{
	static const struct {
		void (*text)(uint64_t value, char *buf, size_t size);
		uint64_t value;
		const char *want;
	} rows[] = {
		{ num_duration_text, SEC * 3 / 2, "1.5 s" },
		{ num_duration_text, 30000000, "30 ms" },
		{ num_duration_text, 90 * SEC, "90 s" },
		{ num_duration_text, 120 * SEC, "2 min" },
		{ num_duration_text, 7200 * SEC, "2 h" },
		{ num_duration_text, 1500, "1.5 us" },
		{ num_duration_text, 7, "7 ns" },
		{ num_duration_text, 0, "0 s" },
		{ num_duration_text, SEC + 1, "1.000000001 s" },
		{ num_duration_text, UINT64_MAX, "18446744073.709551615 s" },
		{ num_size_text, 65536, "64 KiB" },
		{ num_size_text, 3 << 19, "1536 KiB" },
		{ num_size_text, 1 << 30, "1 GiB" },
		{ num_size_text, 1000, "1000 B" },
		{ num_size_text, 0, "0 B" },
	};
	char text[40];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		rows[i].text(rows[i].value, text, sizeof(text));
		assert_string_equal(text, rows[i].want);
	}
	num_signal_text(SIGKILL, text, sizeof(text));
	assert_string_equal(text, "SIGKILL");
	num_signal_text(99, text, sizeof(text));
	assert_string_equal(text, "signal 99");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_exact_and_odd_ones_refused),
		cmocka_unit_test(sizes_count_in_1024_and_odd_ones_are_refused),
		cmocka_unit_test(counts_are_whole_and_positive),
		cmocka_unit_test(cpus_are_thousandths),
		cmocka_unit_test(signals_go_by_name_or_number),
		cmocka_unit_test(plain_numbers_take_nothing_else),
		cmocka_unit_test(texts_are_short_and_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
