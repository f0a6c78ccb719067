/* SPDX-License-Identifier: Apache-2.0 */
/* confine_test: a process that is confined in a scene, as another user or as root without
 * capabilities, and what it tries. */
#ifndef KERNEL_CONFINE_TEST_H
#define KERNEL_CONFINE_TEST_H

#include "confine_scene.h"

#include <linux/capability.h>

#include "kern/confine.h"

static inline void drop_all(uid_t uid)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		MUST(prctl(PR_CAPBSET_DROP, cap) == 0);
	if (uid) {
		MUST(syscall(SYS_setgroups, 0, NULL) == 0);
		MUST(setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0);
	}
	MUST(syscall(SYS_capset, &header, none) == 0);
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	prctl(PR_SET_DUMPABLE, 1);
}

/* What the child of a run does, without its exec. */
static inline void enter(const struct scene *s, uid_t uid)
{
	const struct confine_who who = { .uid = uid, .gid = uid };
	struct confine_opts opts = {
		.policy = &s->policy, .mounts = true, .landlock = true, .uid = uid
	};
	struct confine_limits limits;
	const struct mounts_opts bare = { 0 };
	char what[MOUNTS_WHAT] = "";
	int ruleset;

	if (s->freeze) {
		confine_freeze(&opts, &who, &limits);
		must(!limits.replaceable, limits.first_replaceable, "can be replaced", __FILE__,
		     __LINE__);
	}
	must(mounts_apply(&bare, what) == 0, what, strerror(errno), __FILE__, __LINE__);
	ruleset = confine_ruleset(&opts, what);
	must(ruleset >= 0, what, strerror(errno), __FILE__, __LINE__);
	must(confine_mounts(&opts, what) == 0, what, strerror(errno), __FILE__, __LINE__);
	drop_all(uid);
	must(confine_restrict(ruleset, what) == 0, what, strerror(errno), __FILE__, __LINE__);
}

/* Runs fn confined, once for each identity, which owns the scene; MUST in it ends the test. */
static inline void confined(struct scene *s, void (*fn)(const struct scene *s))
{
	static const uid_t who[] = { USER, 0 };

	for (size_t i = 0; i < 2; i++) {
		int status = 0;
		pid_t pid;

		shell("chown -Rh %d:%d %s", who[i], who[i], s->top);
		pid = fork();
		if (pid == 0) {
			if (chdir(s->top) < 0)
				_exit(98);
			enter(s, who[i]);
			fn(s);
			_exit(0);
		}
		must(waitpid(pid, &status, 0) == pid, "waitpid", "fails", __FILE__, __LINE__);
		must(status == 0, who[i] ? "as another user" : "as root without capabilities",
		     "the child failed", __FILE__, __LINE__);
	}
}

/* ---- what may be opened --------------------------------------------------------------------- */

/* 0, or the errno. */
static inline int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* The first word of a file, or "" when it cannot be read. */
static inline const char *content(const char *path)
{
	static char text[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

#define REFUSED(call)                                                                           \
	do {                                                                                    \
		long rc_;                                                                       \
		errno = 0;                                                                      \
		rc_ = (long)(call);                                                             \
		must(rc_ < 0 && (errno == EACCES || errno == EPERM || errno == EROFS ||         \
				 errno == EBUSY || errno == EXDEV),                             \
		     #call, rc_ < 0 ? strerror(errno) : "was not refused", __FILE__, __LINE__); \
	} while (0)
#define WORKS(call)                                                         \
	do {                                                                \
		long rc_ = (long)(call);                                    \
		must(rc_ >= 0, #call, strerror(errno), __FILE__, __LINE__); \
	} while (0)

#endif
