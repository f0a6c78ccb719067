/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/text.h"
#include "run/store.h"

struct fixture {
	char top[64];
	struct rundir dir;
	struct spec spec;
	struct store store;
	struct output_record out;
};

static void start(struct fixture *f, uint64_t spill_at, uint64_t preview, uint64_t file_max)
{
	snprintf(f->top, sizeof(f->top), "/tmp/sbx-unit-store.XXXXXX");
	assert_non_null(mkdtemp(f->top));
	setenv("SBX_RUN_DIR", f->top, 1);
	memset(&f->out, 0, sizeof(f->out));
	spec_init(&f->spec);
	f->spec.spill_at_bytes = spill_at;
	f->spec.preview_bytes = preview;
	assert_int_equal(rundir_create(&f->dir, "aaaaaaaaaa", getuid(), getgid(), NULL), 0);
	store_init(&f->store, &f->dir, "stdout.spill", &f->spec, file_max);
}

static void feed(struct fixture *f, size_t total, size_t chunk)
{
	char *bytes = malloc(chunk);

	for (size_t at = 0; at < total; at += chunk) {
		size_t n = total - at < chunk ? total - at : chunk;

		for (size_t i = 0; i < n; i++)
			bytes[i] = (char)('a' + (at + i) % 26);
		assert_int_equal(store_add(&f->store, bytes, n), 0);
	}
	free(bytes);
}

static void end(struct fixture *f)
{
	store_done(&f->store);
	free(f->out.text);
	free(f->out.spill);
	spec_done(&f->spec);
	rundir_close(&f->dir);
	io_remove_tree(AT_FDCWD, f->top);
}

static void exactly_the_threshold_is_complete_and_leaves_no_file(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 4194304, 65536, UINT64_MAX);
	feed(&f, 4194304, 100000);
	assert_int_equal(store_finish(&f.store, true, &f.out), 0);
	assert_int_equal(f.out.bytes, 4194304);
	assert_int_equal(f.out.text_len, 4194304);
	assert_false(f.out.truncated);
	assert_null(f.out.spill);
	assert_int_equal(faccessat(f.dir.fd, "stdout.spill", F_OK, 0), -1);
	end(&f);
}

static void one_byte_more_spills_everything_in_order(void **state)
{
	struct fixture f;
	struct stat st;
	FILE *file;
	int c;

	(void)state;
	start(&f, 4194304, 65536, UINT64_MAX);
	feed(&f, 4194305, 99991);
	assert_int_equal(store_finish(&f.store, true, &f.out), 0);
	assert_true(f.out.truncated);
	assert_non_null(f.out.spill);
	assert_int_equal(stat(f.out.spill, &st), 0);
	assert_int_equal(st.st_size, 4194305);
	file = fopen(f.out.spill, "r");
	for (size_t i = 0; (c = fgetc(file)) != EOF; i++)
		assert_int_equal(c, 'a' + i % 26);
	fclose(file);
	assert_true(f.out.text_len < 65536 + 100);
	assert_int_equal(f.out.text[0], 'a');
	assert_int_equal(f.out.text[f.out.text_len - 1], 'a' + 4194304 % 26);
	end(&f);
}

static void the_tail_is_right_however_the_chunks_fell(void **state)
{
	static const size_t chunks[] = { 1, 7, 999, 5000, 40000 };

	(void)state;
	for (size_t i = 0; i < sizeof(chunks) / sizeof(*chunks); i++) {
		struct fixture f;

		start(&f, 1000, 2000, 80000);
		feed(&f, 200003, chunks[i]);
		assert_int_equal(store_finish(&f.store, true, &f.out), 0);
		assert_int_equal(f.out.bytes, 200003);
		for (size_t k = 0; k < 1000; k++)
			assert_int_equal(f.out.text[f.out.text_len - 1 - k],
					 'a' + (200002 - k) % 26);
		end(&f);
	}
}

static void a_character_that_falls_on_the_cut_is_left_out_whole(void **state)
{
	struct fixture f;
	char *euro = malloc(300000);

	(void)state;
	start(&f, 1000, 65534, UINT64_MAX);
	for (size_t i = 0; i < 300000; i += 3)
		memcpy(euro + i, "\xe2\x82\xac", 3);
	assert_int_equal(store_add(&f.store, euro, 300000), 0);
	assert_int_equal(store_finish(&f.store, true, &f.out), 0);
	assert_true(text_valid(f.out.text, f.out.text_len));
	assert_false(f.out.lossy);
	free(euro);
	end(&f);
}

static void what_was_kept_can_be_read_while_it_grows(void **state)
{
	struct fixture f;
	char buf[700];
	uint64_t offset = 0;
	ssize_t n;

	(void)state;
	start(&f, 4194304, 65536, UINT64_MAX);
	feed(&f, 150000, 4096);
	while ((n = store_read(&f.store, &offset, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(buf[i], 'a' + (offset + (uint64_t)i) % 26);
		offset += (uint64_t)n;
	}
	assert_int_equal(n, 0);
	assert_int_equal(offset, 150000);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_the_threshold_is_complete_and_leaves_no_file),
		cmocka_unit_test(one_byte_more_spills_everything_in_order),
		cmocka_unit_test(the_tail_is_right_however_the_chunks_fell),
		cmocka_unit_test(a_character_that_falls_on_the_cut_is_left_out_whole),
		cmocka_unit_test(what_was_kept_can_be_read_while_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
