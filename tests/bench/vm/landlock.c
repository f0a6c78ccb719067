/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock [--ro PATH | --rw PATH]... -- COMMAND [ARG...]
 *
 * Runs a command under Landlock with the same rules as a sandbox, and nothing else of it.
 */
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READS \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define EVERYTHING ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) /* of the first ABI */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void allow(int ruleset, const char *path, __u64 rights)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = rights,
		.parent_fd = open(path, O_PATH | O_CLOEXEC),
	};

	if (rule.parent_fd < 0 ||
	    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		fail(path);
	close(rule.parent_fd);
}

int main(int argc, char **argv)
{
	const struct landlock_ruleset_attr all = { .handled_access_fs = EVERYTHING };
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	int i = 1;

	if (ruleset < 0)
		fail("landlock_create_ruleset");
	for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2)
		allow(ruleset, argv[i + 1], strcmp(argv[i], "--rw") ? READS : EVERYTHING);
	if (i + 1 >= argc)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_landlock_restrict_self, ruleset, 0))
		fail("landlock_restrict_self");
	execv(argv[i + 1], argv + i + 1);
	fail(argv[i + 1]);
}
