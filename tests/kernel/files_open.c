/* SPDX-License-Identifier: Apache-2.0 */
/* What may be opened, by each way to a file that is not a path of its own. */
#include "files_scene.h"

#include <sched.h>
#include <sys/mount.h>

static int opens(void *arg)
{
	(void)arg;
	ANSWERS(0, try_open(F("w/f"), O_RDWR));
	ANSWERS(0, try_open(F("w/new"), O_RDWR | O_CREAT));
	ANSWERS(0, try_open(F("w/ro/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("w/ro/f"), O_WRONLY));
	ANSWERS(-EACCES, try_open(F("w/ro/f"), O_RDONLY | O_TRUNC));
	ANSWERS(-EACCES, try_open(F("w/ro/new"), O_WRONLY | O_CREAT));
	ANSWERS(-EACCES, try_open(F("w/deny/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("w/deny"), O_RDONLY | O_DIRECTORY));
	ANSWERS(0, try_open(F("w/noexec/true"), O_RDWR));
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
	under_policy(opens);
}

static int aliases(void *arg)
{
	int dir = open(F("w"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	int path = open(F("w/deny/f"), O_PATH | O_CLOEXEC); /* names it, reads nothing */
	char self[64];

	(void)arg;
	MUST(dir >= 0 && path >= 0);
	ANSWERS(0, said(openat(dir, "f", O_RDONLY | O_CLOEXEC)));
	ANSWERS(-EACCES, said(openat(dir, "deny/f", O_RDONLY | O_CLOEXEC)));
	snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
	ANSWERS(-EACCES, try_open(self, O_RDONLY));
	snprintf(self, sizeof(self), "/proc/self/fd/%d/f", dir);
	ANSWERS(0, try_open(self, O_RDONLY));
	ANSWERS(0, try_open("/proc/self/root" F("w/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open("/proc/self/root" F("w/deny/f"), O_RDONLY));
	ANSWERS(0, said(symlink(F("w/deny/f"), F("w/link"))));
	ANSWERS(-EACCES, try_open(F("w/link"), O_RDONLY));
	ANSWERS(0, chdir(F("w/deny")));
	ANSWERS(-EACCES, try_open("f", O_RDONLY));
	ANSWERS(-EACCES, said(openat(dir, "ro", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)));
	ANSWERS(0, said(openat(dir, "d", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)));
	return 0;
}

static void another_name_for_it_does_not_help(void **state)
{
	(void)state;
	under_policy(aliases);
}

static int handles(void *arg)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} good = { .h.handle_bytes = MAX_HANDLE_SZ }, bad = { .h.handle_bytes = MAX_HANDLE_SZ };
	int fs = open(F("w"), O_RDONLY | O_DIRECTORY | O_CLOEXEC), id;

	(void)arg;
	MUST(!name_to_handle_at(AT_FDCWD, F("w/f"), &good.h, &id, 0));
	MUST(!name_to_handle_at(AT_FDCWD, F("w/deny/f"), &bad.h, &id, 0));
	ANSWERS(0, said(open_by_handle_at(fs, &good.h, O_RDONLY | O_CLOEXEC)));
	ANSWERS(-EACCES, said(open_by_handle_at(fs, &bad.h, O_RDONLY | O_CLOEXEC)));
	return 0;
}

static void a_file_handle_is_no_way_in(void **state)
{
	(void)state;
	under_policy(handles);
}

/* ---- mounts and roots of its own ------------------------------------------------------------- */

static int binds(void *arg)
{
	int tree;

	(void)arg;
	MUST(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	MUST(!mkdir(F("w/at"), 0755));
	MUST(!mount(F("w/deny"), F("w/at"), NULL, MS_BIND, NULL));
	ANSWERS(-EACCES, try_open(F("w/at/f"), O_RDONLY));
	MUST(!mount(F("r"), F("w/at"), NULL, MS_BIND, NULL));
	ANSWERS(0, try_open(F("w/at/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("w/at/f"), O_RDWR));
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, F("w/deny"), OPEN_TREE_CLONE);
	MUST(tree >= 0);
	ANSWERS(-EACCES, said(openat(tree, "f", O_RDONLY)));
	MUST(!syscall(SYS_move_mount, tree, "", AT_FDCWD, F("w/at"), 4 /* F_EMPTY_PATH */));
	ANSWERS(-EACCES, try_open(F("w/at/f"), O_RDONLY));
	MUST(!mkdir(F("w/tmpfs"), 0755) && !mount("none", F("w/tmpfs"), "tmpfs", 0, NULL));
	ANSWERS(-EACCES, try_open(F("w/tmpfs/new"), O_RDWR | O_CREAT)); /* has no rule */
	return 0;
}

static void a_mount_of_its_own_does_not_help(void **state)
{
	(void)state;
	under_policy(binds);
}

static int chroots(void *arg)
{
	(void)arg;
	MUST(!unshare(CLONE_NEWUSER | CLONE_NEWNS));
	MUST(!chroot(F("w/deny")));
	ANSWERS(-EACCES, try_open("/f", O_RDONLY));
	ANSWERS(-EACCES, try_open("/../f", O_RDONLY));
	return 0;
}

static void a_root_of_its_own_in_a_user_namespace_does_not_help(void **state)
{
	(void)state;
	under_policy(chroots);
}

/* ---- far down -------------------------------------------------------------------------------- */

static int down(int levels)
{
	for (int i = 0; i < levels; i++)
		if ((mkdir("d", 0755) && errno != EEXIST) || chdir("d"))
			return -errno;
	return 0;
}

static int deep(void *arg)
{
	(void)arg;
	MUST(!chdir(F("w")));
	ANSWERS(0, down(400));
	ANSWERS(0, try_open("f", O_RDWR | O_CREAT));
	MUST(!chdir(F("w/d/ro")));
	ANSWERS(-EACCES, down(1));
	MUST(!chdir(F("w/d")));
	ANSWERS(-EACCES, down(1200)); /* the bound refuses */
	return 0;
}

static void depth_is_walked_and_its_bound_refuses(void **state)
{
	(void)state;
	under_policy(deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_are_decided_by_the_nearest_rule),
		cmocka_unit_test(another_name_for_it_does_not_help),
		cmocka_unit_test(a_file_handle_is_no_way_in),
		cmocka_unit_test(a_mount_of_its_own_does_not_help),
		cmocka_unit_test(a_root_of_its_own_in_a_user_namespace_does_not_help),
		cmocka_unit_test(depth_is_walked_and_its_bound_refuses),
	};

	return cmocka_run_group_tests(tests, scene_make, scene_unmake);
}
