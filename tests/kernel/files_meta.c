/* SPDX-License-Identifier: Apache-2.0 */
/* Writing is more than content: mode, owner, times, size, attributes; and a core. */
#include "files_scene.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/xattr.h>

static int flags(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), bits = 0, rc;

	rc = said(ioctl(fd, FS_IOC_GETFLAGS, &bits));
	if (!rc)
		rc = said(ioctl(fd, FS_IOC_SETFLAGS, &bits));
	close(fd);
	return rc;
}

static int attributes(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	struct fsxattr attr;

	rc = said(ioctl(fd, FS_IOC_FSGETXATTR, &attr));
	if (!rc)
		rc = said(ioctl(fd, FS_IOC_FSSETXATTR, &attr));
	close(fd);
	return rc;
}

static void all_answer(int want, const char *path)
{
	ANSWERS(want, said(chmod(path, 0700)));
	ANSWERS(want, said(chown(path, 1, 1)));
	ANSWERS(want, said(utimensat(AT_FDCWD, path, NULL, 0)));
	ANSWERS(want, said(truncate(path, 1)));
	ANSWERS(want, said(setxattr(path, "user.sbx", "x", 1, 0)));
	ANSWERS(want, said(setxattr(path, "security.sbx", "x", 1, 0)));
	ANSWERS(want, said(setxattr(path, "system.posix_acl_access",
				    "\2\0\0\0\1\0\7\0\377\377\377\377\4\0\5\0\377\377\377\377"
				    "\40\0\5\0\377\377\377\377",
				    28, 0)));
	ANSWERS(want, flags(path));
	ANSWERS(want, attributes(path));
	ANSWERS(want, said(removexattr(path, "user.sbx")));
}

static int changes(void *arg)
{
	struct stat st;
	char buf[8];

	(void)arg;
	all_answer(0, F("w/f"));
	all_answer(-EACCES, F("w/ro/f"));
	ANSWERS(0, said(stat(F("w/ro/f"), &st)));
	ANSWERS(-ENODATA, said(getxattr(F("w/ro/f"), "user.none", buf, sizeof(buf))));
	return 0;
}

static void metadata_is_written_with_the_right_to_write(void **state)
{
	(void)state;
	if (!k)
		skip();
	setxattr(F("w/ro/f"), "user.sbx", "x", 1, 0); /* there to be removed */
	under_policy(changes);
}

/* ---- a core dump writes with other credentials ------------------------------------------------ */

static int crash(const char *dir)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &all);
		if (!chdir(dir))
			abort();
		_exit(1);
	}
	return waitpid(pid, NULL, 0) == pid ? 0 : -ECHILD;
}

static int dumps(void *arg)
{
	(void)arg;
	ANSWERS(0, crash(F("w")));
	ANSWERS(0, crash(F("w/ro")));
	return 0;
}

static void a_core_dump_needs_the_right(void **state)
{
	(void)state;
	if (!k)
		skip();
	put("/proc/sys/kernel/core_pattern", "core");
	put("/proc/sys/kernel/core_uses_pid", "0");
	under_policy(dumps);
	assert_int_equal(access(F("w/core"), F_OK), 0);
	assert_int_equal(access(F("w/ro/core"), F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metadata_is_written_with_the_right_to_write),
		cmocka_unit_test(a_core_dump_needs_the_right),
	};

	return cmocka_run_group_tests(tests, scene_make, scene_unmake);
}
