/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlayfs acts on its layers with its mounter's credentials, through the same hooks: what is refused
 * on the merged directory is refused, and what is allowed there works although the layers are denied.
 */
#include "files_scene.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>

#define LAYERS "lowerdir=" F("low") ",upperdir=" F("up") ",workdir=" F("work")

static bool mounted;

static int make(void **state)
{
	static const char *const dirs[] = { F("low"),	F("low/ro"), F("low/deny"), F("low/d"),
					    F("up"),	F("work"),   F("m"),	    F("m2"),
					    F("other"), NULL };

	(void)state;
	k = files_kern();
	if (!k)
		return 0;
	scratch_make(dirs);
	put(F("low/f"), "open");
	put(F("low/g"), "open");
	put(F("low/h"), "open");
	put(F("low/ro/f"), "read");
	put(F("low/deny/f"), "secret");
	MUST(!system("cp /bin/true " F("low/true")));
	mounted = !mount("none", F("m"), "overlay", 0, LAYERS);
	if (!mounted)
		print_message("mount an overlay: %s\n", strerror(errno));
	return 0;
}

static int unmake(void **state)
{
	if (mounted)
		umount2(F("m"), MNT_DETACH);
	return scene_unmake(state);
}

static const struct line merged[] = {
	{ FILE_RO, "/", FILE_OBJECT },	     { FILE_RW, "m", FILE_OBJECT },
	{ FILE_RO, "m/ro", FILE_OBJECT },    { FILE_DENY, "m/deny", FILE_OBJECT },
	{ FILE_DENY, "m/.env", FILE_ENTRY }, { FILE_DENY, "low", FILE_OBJECT },
	{ FILE_DENY, "up", FILE_OBJECT },    { FILE_DENY, "work", FILE_OBJECT },
};

static int run(const char *path)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execl(path, path, NULL);
		_exit(100);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status) ? -WEXITSTATUS(status) : 0;
}

static int lists(const char *path)
{
	DIR *d = opendir(path);
	int rc = d ? 0 : -errno;

	while (d && readdir(d))
		;
	if (d)
		closedir(d);
	return rc;
}

static int works_above(void *arg)
{
	char buf[8];
	int fd = open(F("m/f"), O_RDONLY | O_CLOEXEC);

	(void)arg;
	MUST(fd >= 0 && read(fd, buf, sizeof(buf)) == 4);
	ANSWERS(0, lists(F("m")));
	ANSWERS(0, lists(F("m/d")));
	ANSWERS(0, try_open(F("m/f"), O_RDWR)); /* copies it up */
	ANSWERS(0, try_open(F("m/new"), O_RDWR | O_CREAT));
	ANSWERS(0, said(mkdir(F("m/d/e"), 0755)));
	ANSWERS(0, said(rename(F("m/g"), F("m/d/g"))));
	ANSWERS(0, said(link(F("m/new"), F("m/new2"))));
	ANSWERS(0, said(unlink(F("m/new"))));
	ANSWERS(0, said(chmod(F("m/h"), 0600)));
	ANSWERS(0, said(truncate(F("m/h"), 1)));
	ANSWERS(0, said(symlink("f", F("m/s"))));
	ANSWERS(0, run(F("m/true")));
	return 0;
}

static int refuses_above(void *arg)
{
	(void)arg;
	ANSWERS(0, try_open(F("m/ro/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("m/ro/f"), O_RDWR));
	ANSWERS(-EACCES, try_open(F("m/ro/new"), O_RDWR | O_CREAT));
	ANSWERS(-EACCES, said(chmod(F("m/ro/f"), 0600)));
	ANSWERS(-EACCES, try_open(F("m/deny/f"), O_RDONLY));
	ANSWERS(-EACCES, said(rename(F("m/deny"), F("m/open"))));
	ANSWERS(-EACCES, try_open(F("m/.env"), O_RDWR | O_CREAT));
	return 0;
}

static int refuses_below(void *arg)
{
	(void)arg;
	ANSWERS(-EACCES, try_open(F("low/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("low/deny/f"), O_RDONLY));
	ANSWERS(-EACCES, try_open(F("up/new"), O_RDWR | O_CREAT));
	ANSWERS(-EACCES, lists(F("work")));
	return 0;
}

static void try_it(int (*act)(void *arg))
{
	if (!k || !mounted)
		skip();
	assert_int_equal(GUARDED(k, merged, act, NULL), 0);
}

static void what_the_merged_directory_allows_works(void **state)
{
	(void)state;
	try_it(works_above);
}

static void what_it_refuses_is_refused(void **state)
{
	(void)state;
	try_it(refuses_above);
}

static void its_layers_are_decided_by_their_own_rules(void **state)
{
	(void)state;
	try_it(refuses_below);
}

/* A mounter inside would be trusted with what it is denied. */
static int mounts(void *arg)
{
	int rc;

	(void)arg;
	MUST(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	rc = said(mount("none", F("m2"), "overlay", 0, "lowerdir=" F("low") ":" F("other")));
	ANSWERS(-EACCES, rc);
	MUST(!mount("none", F("m2"), "tmpfs", 0, NULL)); /* mounting as such works */
	return 0;
}

static void an_overlay_of_its_own_is_refused(void **state)
{
	(void)state;
	try_it(mounts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_merged_directory_allows_works),
		cmocka_unit_test(what_it_refuses_is_refused),
		cmocka_unit_test(its_layers_are_decided_by_their_own_rules),
		cmocka_unit_test(an_overlay_of_its_own_is_refused),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
