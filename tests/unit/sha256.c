/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"

static void hash(const char *bytes, size_t len, size_t step, char out[65])
{
	struct sha256 sha;

	sha256_init(&sha);
	for (size_t at = 0; at < len; at += step)
		sha256_add(&sha, bytes + at, len - at < step ? len - at : step);
	sha256_hex(&sha, out);
}

static void it_agrees_with_the_published_vectors(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopq"
		  "klmnopqrlmnopqrsmnopqrstnopqrstu",
		  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	};
	char out[65];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		hash(rows[i].text, strlen(rows[i].text), 1000, out);
		assert_string_equal(out, rows[i].want);
	}
}

static void a_million_letters_agree_too(void **state)
{
	static char block[1000];
	struct sha256 sha;
	char out[65];

	(void)state;
	memset(block, 'a', sizeof(block));
	sha256_init(&sha);
	for (int i = 0; i < 1000; i++)
		sha256_add(&sha, block, sizeof(block));
	sha256_hex(&sha, out);
	assert_string_equal(out,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void the_pieces_do_not_matter_at_any_length(void **state)
{
	char bytes[200], whole[65], pieces[65];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		hash(bytes, len, sizeof(bytes), whole);
		hash(bytes, len, 3, pieces);
		assert_string_equal(whole, pieces);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_agrees_with_the_published_vectors),
		cmocka_unit_test(a_million_letters_agree_too),
		cmocka_unit_test(the_pieces_do_not_matter_at_any_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
