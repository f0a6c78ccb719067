/* SPDX-License-Identifier: Apache-2.0 */
/* scratch: a directory of its own for each test. */
#ifndef KERNEL_SCRATCH_H
#define KERNEL_SCRATCH_H

#include <limits.h>
#include <sys/stat.h>

#include "base/io.h"
#include "must.h"

/* The test's own directory, the current one: home `h`, working directory `h/w`. */
static char top[PATH_MAX];

static inline int set_up(void **state)
{
	char path[] = "/tmp/sbx-paths-XXXXXX";

	(void)state;
	MUST(mkdtemp(path) && realpath(path, top) && chdir(top) == 0);
	MUST(mkdir("h", 0700) == 0 && mkdir("h/w", 0700) == 0);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	MUST(chdir("/") == 0);
	return io_remove_tree(AT_FDCWD, top);
}

/* Below the test's directory, its parents with it. */
static inline void make(const char *path, const char *text)
{
	char whole[2 * PATH_MAX], *slash;
	struct err err = { 0 };
	int fd;

	snprintf(whole, sizeof(whole), "%s/%s", top, path);
	slash = strrchr(whole, '/');
	*slash = '\0';
	OK(&err, io_mkdir_p(whole, 0755, &err));
	*slash = '/';
	if (!slash[1])
		return;
	fd = open(whole, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static inline void absolute(char *buf, size_t size, const char *path)
{
	if (path[0] == '/')
		snprintf(buf, size, "%s", path);
	else
		snprintf(buf, size, "%s/%s", top, path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
