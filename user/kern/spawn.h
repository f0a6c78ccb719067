/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn: the one place that makes the process of a run.
 *
 * clone3 into the group, the child prepares itself (session, descriptors, mounts, identity,
 * privileges, rlimits), reports ready, blocks until released, then execs. Errors between clone and
 * exec come back as struct spawn_fault over a close-on-exec pipe.
 */
#ifndef KERN_SPAWN_H
#define KERN_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct cgroup;
struct confine_opts;
struct mounts_opts;
struct pidns;
struct seccomp_opts;
struct unixes;

struct spawn_opts {
	char *const *argv;
	char *const *envp;
	const char *search_path; /* PATH that argv[0] without a slash is searched in */
	const char *chdir;	 /* NULL: stay */
	int stdin_fd, stdout_fd, stderr_fd;
	int tty_fd;		     /* pty slave that becomes the controlling terminal, -1: none */
	const struct cgroup *cgroup; /* NULL: the caller's */
	const char *
		links; /* directory for the links that ELF files are executed through, NULL: by path */
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* NULL: the caller's stay */
	size_t group_count;
	bool set_user;	/* switch to uid, gid, groups */
	bool drop_caps; /* every set, bounding included: not under -p none unless the user changes */
	bool no_new_privs;
	uint64_t max_file_bytes, nofile;  /* UINT64_MAX: inherit */
	uint64_t timer_slack_ns;	  /* of the command, in place of the caller's; 0: inherit */
	const struct pidns *pidns;	  /* NULL: the caller's pid namespace */
	const struct mounts_opts *mounts; /* NULL: the caller's mount namespace, unless confined */
	const struct confine_opts *confine; /* NULL: every file; else no core dumps, too */
	bool netns;			    /* a network namespace of its own */
	bool apart;	  /* IPC and UTS namespaces and a session keyring of its own */
	bool drop_groups; /* no supplementary groups */
	const struct seccomp_opts *seccomp; /* NULL: no filter */
	const struct unixes *unixes;	    /* to be covered; NULL: none */
};

struct child_image;

struct spawn {
	pid_t pid;
	int pidfd;
	int go_fd;    /* write 1 byte: exec */
	int fault_fd; /* EOF: exec succeeded */
	bool by_path; /* launched by path (a script), not by inode */
	struct child_image *image;
};

#define SPAWN_ARGS_FALLBACK 1024 /* arguments of a script without "#!" */

enum spawn_stage { SPAWN_READY, SPAWN_SETUP, SPAWN_EXEC };
struct spawn_fault {
	int32_t stage, error;
	char what[120];
};

/* Resolves argv[0], clones. On failure nothing is left; err->category is ERR_COULD_NOT_RUN with code -ENOENT, -EACCES …
 * for the command itself. */
int spawn_start(struct spawn *s, const struct spawn_opts *opts, struct err *err);
/* Waits for the child's ready report (bounded by timeout_ms). */
int spawn_ready(struct spawn *s, const struct spawn_opts *opts, int timeout_ms, struct err *err);
/* Lets it exec. */
int spawn_release(struct spawn *s, struct err *err);
/* Waits for success or the errno of exec. */
int spawn_result(struct spawn *s, const struct spawn_opts *opts, struct err *err);
/* Kills and reaps a child that was not released. Idempotent. */
void spawn_abort(struct spawn *s);
void spawn_done(struct spawn *s);

#endif
