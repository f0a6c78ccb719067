/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused and what is not, by each way to a file. */
#include "files_acts.h"

#define F(path) SCRATCH "/" path

static struct kern *k;

static int make(void **state)
{
	static const char *const dirs[] = { F("w"),	   F("w/ro"), F("w/deny"),
					    F("w/noexec"), F("r"),    NULL };

	(void)state;
	k = files_kern();
	if (!k)
		return 0;
	scratch_make(dirs);
	put(F("w/f"), "open");
	put(F("w/ro/f"), "read");
	put(F("w/deny/f"), "secret");
	put(F("w/noexec/f"), "#!/bin/true\n");
	put(F("r/f"), "read");
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	if (!k)
		return 0;
	kern_close(k);
	return system("rm -rf " SCRATCH) || kern_unload(NULL);
}

static const struct line lines[] = {
	{ FILE_RO, "/", FILE_OBJECT },
	{ FILE_RW, "w", FILE_OBJECT },
	{ FILE_RO, "w/ro", FILE_OBJECT },
	{ FILE_DENY, "w/deny", FILE_OBJECT },
	{ FILE_NOEXEC, "w/noexec", FILE_OBJECT },
	{ FILE_DENY, "w/.env", FILE_ENTRY },
	{ FILE_RO, "w/ro/later", FILE_ENTRY },
};

static int opens(void *arg)
{
	(void)arg;
	ANSWERS(0, try_open(F("w/f"), O_RDWR));
	ANSWERS(0, try_open(F("w/new"), O_RDWR | O_CREAT));
	ANSWERS(0, try_open(F("w/ro/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("w/ro/f"), O_WRONLY));
	ANSWERS(-EACCES, try_open(F("w/ro/new"), O_WRONLY | O_CREAT));
	ANSWERS(-EACCES, try_open(F("w/deny/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("w/deny"), O_RDONLY | O_DIRECTORY));
	ANSWERS(0, try_open(F("w/noexec/f"), O_RDWR));
	ANSWERS(-EACCES, said(execl(F("w/noexec/f"), "f", NULL)));
	ANSWERS(0, try_open(F("r/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("r/f"), O_RDWR));
	ANSWERS(-EACCES, try_open(F("w/.env"), O_WRONLY | O_CREAT));
	ANSWERS(0, try_open(F("w/.envy"), O_WRONLY | O_CREAT));
	ANSWERS(0, try_open("/proc/self/status", O_RDONLY));
	return 0;
}

static void opens_are_decided_by_the_nearest_rule(void **state)
{
	(void)state;
	if (!k)
		skip();
	assert_int_equal(GUARDED(k, lines, opens, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_are_decided_by_the_nearest_rule),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
