/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are made, moved, exchanged, taken away and made again. */
#include "files_scene.h"

#include <linux/fs.h>
#include <sys/sysmacros.h>

static int remake(void **state)
{
	(void)state;
	if (k)
		scene_fill();
	return 0;
}

static int makes(void *arg)
{
	(void)arg;
	ANSWERS(0, said(mkdir(F("w/m"), 0755)));
	ANSWERS(-EACCES, said(mkdir(F("w/ro/m"), 0755)));
	ANSWERS(-EACCES, said(mkdir(F("w/.env"), 0755)));
	ANSWERS(0, said(symlink("f", F("w/s"))));
	ANSWERS(-EACCES, said(symlink("f", F("w/ro/s"))));
	ANSWERS(-EACCES, said(symlink("f", F("w/.env"))));
	ANSWERS(0, said(mkfifo(F("w/p"), 0644)));
	ANSWERS(-EACCES, said(mkfifo(F("w/ro/p"), 0644)));
	ANSWERS(0, said(mknod(F("w/n"), S_IFCHR | 0644, makedev(1, 3))));
	ANSWERS(-EACCES, said(mknod(F("w/ro/n"), S_IFCHR | 0644, makedev(1, 3))));
	ANSWERS(-EACCES, said(mknod(F("r/n"), S_IFREG | 0644, 0)));
	return 0;
}

static void each_kind_of_name_needs_the_right(void **state)
{
	(void)state;
	under_policy(makes);
}

static int removes(void *arg)
{
	(void)arg;
	ANSWERS(0, said(unlink(F("w/f"))));
	ANSWERS(-EACCES, said(unlink(F("w/ro/f"))));
	ANSWERS(-EACCES, said(unlink(F("w/deny/f"))));
	ANSWERS(-EACCES, said(rmdir(F("w/deny"))));
	ANSWERS(0, said(mkdir(F("w/x"), 0755)));
	ANSWERS(0, said(rmdir(F("w/x"))));
	return 0;
}

static void what_may_not_be_written_may_not_be_removed(void **state)
{
	(void)state;
	under_policy(removes);
}

static int links(void *arg)
{
	(void)arg;
	ANSWERS(0, said(link(F("w/f"), F("w/l"))));
	ANSWERS(-EACCES, said(link(F("w/deny/f"), F("w/l2"))));
	ANSWERS(-EXDEV, said(link(F("w/ro/f"), F("w/l3"))));
	ANSWERS(-EXDEV, said(link(F("w/noexec/true"), F("w/l4"))));
	ANSWERS(0, said(link(F("w/f"), F("w/noexec/l"))));
	ANSWERS(-EACCES, said(link(F("w/f"), F("w/ro/l"))));
	ANSWERS(-EACCES, said(link(F("w/f"), F("w/.env"))));
	return 0;
}

static void a_hard_link_gives_no_right(void **state)
{
	(void)state;
	under_policy(links);
}

/* A rule on a file is about the file, whatever it was called before. */
static int old_link(void *arg)
{
	(void)arg;
	ANSWERS(-EACCES, try_open(F("w/alias"), O_RDONLY));
	ANSWERS(0, try_open(F("w/f"), O_RDONLY));
	return 0;
}

static void a_hard_link_made_before_has_the_rule(void **state)
{
	static const struct line rules[] = { { FILE_RW, "/", FILE_OBJECT },
					     { FILE_DENY, "w/secret", FILE_OBJECT } };

	(void)state;
	if (!k)
		skip();
	put(F("w/secret"), "secret");
	MUST(!link(F("w/secret"), F("w/alias")));
	assert_int_equal(GUARDED(k, rules, old_link, NULL), 0);
}

static int exchange(const char *a, const char *b)
{
	return said(syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE));
}

static int renames(void *arg)
{
	(void)arg;
	ANSWERS(0, said(rename(F("w/f"), F("w/g"))));
	ANSWERS(-EACCES, said(rename(F("w/deny/f"), F("w/h"))));
	ANSWERS(-EACCES, said(rename(F("w/deny"), F("w/open"))));
	ANSWERS(-EACCES, said(rename(F("w/g"), F("w/ro/g"))));
	ANSWERS(-EACCES, said(rename(F("w/g"), F("w/ro/f"))));
	ANSWERS(-EACCES, said(rename(F("w/g"), F("w/.env"))));
	ANSWERS(-EXDEV, said(rename(F("w/noexec/true"), F("w/runs"))));
	ANSWERS(0, said(rename(F("w/g"), F("w/noexec/g"))));
	ANSWERS(-EACCES, exchange(F("w/true"), F("w/deny/f")));
	ANSWERS(0, said(mkdir(F("w/e"), 0755)));
	ANSWERS(-EACCES, exchange(F("w/deny"), F("w/e")));
	ANSWERS(-EACCES, exchange(F("w/e"), F("w/deny")));
	ANSWERS(-EXDEV, exchange(F("w/true"), F("w/noexec/true")));
	ANSWERS(0, exchange(F("w/true"), F("w/d/f")));
	return 0;
}

static void a_rename_may_only_lose_rights(void **state)
{
	(void)state;
	under_policy(renames);
}

/* mv d away; mkdir -p d/ro: the path of the rule would be without it. */
static int moves_what_is_above(void *arg)
{
	(void)arg;
	ANSWERS(-EBUSY, said(rename(F("w/d"), F("w/d2"))));
	ANSWERS(0, said(mkdir(F("w/e"), 0755)));
	ANSWERS(-EBUSY, exchange(F("w/d"), F("w/e")));
	ANSWERS(-EBUSY, exchange(F("w/e"), F("w/d")));
	ANSWERS(0, said(rename(F("w/e"), F("w/e2"))));
	ANSWERS(-EBUSY, said(rename(F("w"), F("v"))));
	return 0;
}

static void a_directory_above_a_rule_stays(void **state)
{
	(void)state;
	under_policy(moves_what_is_above);
}

/* The rule on w/noexec: its directory goes, and comes again under its name. */
static int recreates(void *arg)
{
	(void)arg;
	ANSWERS(0, said(unlink(F("w/noexec/true"))));
	ANSWERS(0, said(rmdir(F("w/noexec"))));
	ANSWERS(0, said(mkdir(F("w/noexec"), 0755)));
	ANSWERS(0, said(rename(F("w/true"), F("w/noexec/true"))));
	ANSWERS(-EACCES, said(execl(F("w/noexec/true"), "true", NULL)));
	return 0;
}

static void what_is_made_again_has_the_rule(void **state)
{
	(void)state;
	under_policy(recreates);
}

/* An entry may become a directory: made from outside here, since the inside may not. */
static int below_an_entry(void *arg)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	(void)arg;
	while (access(F("w/.env/f"), F_OK))
		nanosleep(&step, NULL);
	ANSWERS(-EACCES, try_open(F("w/.env/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("w/.env"), O_RDONLY | O_DIRECTORY));
	ANSWERS(0, try_open(F("w/f"), O_RDONLY));
	return 0;
}

static void an_entry_holds_for_all_below_it(void **state)
{
	struct guarded g;

	(void)state;
	if (!k)
		skip();
	guarded_start(&g, k, scene, sizeof(scene) / sizeof(scene[0]), false, below_an_entry, NULL);
	MUST(!mkdir(F("w/.env"), 0755));
	put(F("w/.env/f.new"), "secret");
	MUST(!rename(F("w/.env/f.new"), F("w/.env/f")));
	assert_int_equal(guarded_end(&g), 0);
}

static int anywhere(void *arg)
{
	(void)arg;
	ANSWERS(-EACCES, try_open(F("w/d/.key"), O_WRONLY | O_CREAT));
	ANSWERS(-EACCES, said(rename(F("w/f"), F("w/d/.key"))));
	ANSWERS(-EACCES, try_open(F("r/.key"), O_RDONLY));
	ANSWERS(0, try_open(F("w/.key"), O_RDWR)); /* named: nearer than any depth */
	ANSWERS(0, try_open(F("w/d/.keys"), O_WRONLY | O_CREAT));
	return 0;
}

static void a_name_is_held_at_any_depth(void **state)
{
	static const struct line rules[] = {
		{ FILE_RO, "/", FILE_OBJECT },
		{ FILE_RW, "w", FILE_OBJECT },
		{ FILE_RW, "w/.key", FILE_OBJECT },
		{ FILE_DENY, ".key", FILE_ANYWHERE },
	};

	(void)state;
	if (!k)
		skip();
	put(F("w/.key"), "open");
	put(F("r/.key"), "secret");
	assert_int_equal(GUARDED(k, rules, anywhere, NULL), 0);
}

#define FRESH(test) cmocka_unit_test_setup(test, remake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH(each_kind_of_name_needs_the_right),
		FRESH(what_may_not_be_written_may_not_be_removed),
		FRESH(a_hard_link_gives_no_right),
		FRESH(a_hard_link_made_before_has_the_rule),
		FRESH(a_rename_may_only_lose_rights),
		FRESH(a_directory_above_a_rule_stays),
		FRESH(what_is_made_again_has_the_rule),
		FRESH(an_entry_holds_for_all_below_it),
		FRESH(a_name_is_held_at_any_depth),
	};

	return cmocka_run_group_tests(tests, scene_make, scene_unmake);
}
