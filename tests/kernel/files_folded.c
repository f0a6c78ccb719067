/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories where two spellings are one name: an object is refused under each of them, and where a
 * name is denied that does not exist yet none can be made.
 */
#include "files_scene.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#define CASEFOLD 0x40000000 /* FS_CASEFOLD_FL */

static bool mounted;

static bool fold(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), flags = CASEFOLD;
	bool done = fd >= 0 && !ioctl(fd, FS_IOC_SETFLAGS, &flags);

	if (fd >= 0)
		close(fd);
	return done;
}

static void fill(void)
{
	MUST(!mkdir(F("m/d"), 0755) && !mkdir(F("m/free"), 0755));
	MUST(fold(F("m/d")) && fold(F("m/free")));
	put(F("m/d/Open"), "open");
	put(F("m/d/Secret"), "secret");
	put(F("m/free/Open"), "open");
}

static int make(void **state)
{
	static const char *const dirs[] = { F("m"), NULL };

	(void)state;
	k = files_kern();
	if (!k)
		return 0;
	scratch_make(dirs);
	mounted = !mount("none", F("m"), "tmpfs", 0, "casefold");
	if (mounted)
		fill();
	else
		print_message("no file system here folds case: mount tmpfs with it: %s\n",
			      strerror(errno));
	return 0;
}

static int unmake(void **state)
{
	if (mounted)
		umount2(F("m"), MNT_DETACH);
	return scene_unmake(state);
}

static const struct line rules[] = {
	{ FILE_RO, "/", FILE_OBJECT },
	{ FILE_RW, "m", FILE_OBJECT },
	{ FILE_DENY, "m/d/Secret", FILE_OBJECT },
	{ FILE_DENY, "m/d/.env", FILE_ENTRY },
};

static void try_it(int (*act)(void *arg))
{
	if (!k || !mounted)
		skip();
	assert_int_equal(GUARDED(k, rules, act, NULL), 0);
}

static int opens(void *arg)
{
	(void)arg;
	ANSWERS(0, try_open(F("m/d/Open"), O_RDONLY));
	ANSWERS(0, try_open(F("m/d/oPEN"), O_RDWR));
	ANSWERS(-EACCES, try_open(F("m/d/Secret"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("m/d/SECRET"), O_RDONLY));
	ANSWERS(-EACCES, said(rename(F("m/d/sECRET"), F("m/free/x"))));
	return 0;
}

static void an_object_is_refused_under_every_spelling(void **state)
{
	(void)state;
	try_it(opens);
}

static int makes(void *arg)
{
	(void)arg;
	ANSWERS(-EACCES, try_open(F("m/d/.env"), O_RDWR | O_CREAT));
	ANSWERS(-EACCES, try_open(F("m/d/.ENV"), O_RDWR | O_CREAT));
	ANSWERS(-EACCES, said(mkdir(F("m/d/.Env"), 0755)));
	ANSWERS(-EACCES, said(rename(F("m/free/Open"), F("m/d/.eNV"))));
	ANSWERS(0, try_open(F("m/free/.ENV"), O_RDWR | O_CREAT));
	return 0;
}

static void no_spelling_makes_a_denied_name(void **state)
{
	(void)state;
	try_it(makes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_is_refused_under_every_spelling),
		cmocka_unit_test(no_spelling_makes_a_denied_name),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
