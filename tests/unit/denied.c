/* SPDX-License-Identifier: Apache-2.0 */
/* What was refused, as the record tells it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/denied.h"

#define TEXT(s) ((char *)(s))

static struct denied_item items[] = {
	{ .act = "read",
	  .object = TEXT("/h/.ssh/\xff"),
	  .rule = TEXT("deny ~/.ssh (--deny)"),
	  .hint = TEXT("--ro /h/.ssh/x"),
	  .error = EACCES,
	  .pid = 7,
	  .comm = "cat",
	  .count = 3 },
	{ .act = "connect",
	  .object = TEXT("192.0.2.1:80"),
	  .name = TEXT("a.example"),
	  .rule = TEXT(""),
	  .hint = TEXT("--allow-net a.example:80"),
	  .error = EPERM,
	  .pid = 9,
	  .comm = "curl",
	  .count = 1 },
	{ .act = "create",
	  .object = TEXT("/x"),
	  .rule = TEXT(""),
	  .hint = TEXT(""),
	  .error = EROFS,
	  .pid = 8,
	  .comm = "sixteen-letters!",
	  .count = 1,
	  .syscall = true },
};
static const struct denied both = { .total = 5,
				    .dropped = 1,
				    .incomplete = true,
				    .from_hook = true,
				    .from_syscall = true,
				    .items = items,
				    .count = 3 };

static void each_refusal_is_told_whole(void **state)
{
	static const char text[] =
		"{'total':5,'dropped':1,'complete':false,'sources':['hook','syscall'],'items':["
		"{'act':'read','object':'/h/.ssh/\xef\xbf\xbd','name':null,'rule':'deny ~/.ssh "
		"(--deny)',"
		"'errno':'EACCES','pid':7,'comm':'cat','count':3,'source':'hook','hint':'--ro "
		"/h/.ssh/x'},"
		"{'act':'connect','object':'192.0.2.1:80','name':'a.example','rule':null,"
		"'errno':'EPERM','pid':9,'comm':'curl','count':1,'source':'hook','hint':'--allow-"
		"net "
		"a.example:80'},"
		"{'act':'create','object':'/x','name':null,'rule':null,'errno':'EROFS','pid':8,"
		"'comm':'sixteen-letters!','count':1,'source':'syscall','hint':null}]}";
	char json[sizeof(text)];
	json_t *got = denied_json(&both, SIZE_MAX), *want;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		json[i] = text[i] == '\'' ? '"' : text[i];
	want = json_loads(json, 0, NULL);
	assert_non_null(want);
	assert_true(json_equal(got, want));
	json_decref(want);
	json_decref(got);
}

static void a_short_answer_has_the_oldest(void **state)
{
	json_t *got = denied_json(&both, 1), *shown = json_object_get(got, "items");

	(void)state;
	assert_int_equal(json_array_size(shown), 1);
	assert_int_equal(json_integer_value(json_object_get(got, "total")), 5);
	assert_string_equal(json_string_value(json_object_get(json_array_get(shown, 0), "act")),
			    "read");
	json_decref(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_refusal_is_told_whole),
		cmocka_unit_test(a_short_answer_has_the_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
