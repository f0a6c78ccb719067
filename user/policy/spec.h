/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec: everything one run was asked for, as a value. Pure: text in, struct out, no system call.
 *
 * Built by the command line (tools/) through the option table (option.h) and by profiles; every later
 * stage reads it and none changes it. Each limit carries its origin.
 */
#ifndef POLICY_SPEC_H
#define POLICY_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "policy/limit.h"
#include "policy/net.h"
#include "policy/spec_files.h"

/* Bounds of what a caller can make us hold (contract 27). */
#define SPEC_ARGS_MAX 65536	  /* arguments */
#define SPEC_ARGS_BYTES (4 << 20) /* argv, all of it */
#define SPEC_ENV_MAX 4096	  /* entries */
#define SPEC_LABELS_MAX 64
#define SPEC_NAME_MAX 64
#define SPEC_ENV_NAME_MAX 1024

enum stdin_mode { STDIN_NULL, STDIN_INHERIT, STDIN_FILE };
enum tristate { TRI_AUTO, TRI_ON, TRI_OFF };
enum owner_mode { OWNER_PARENT, OWNER_PID, OWNER_NONE, OWNER_FD };
enum leftovers { LEFTOVERS_KILL, LEFTOVERS_WAIT, LEFTOVERS_KEEP };
enum workdir_mode { WORKDIR_INHERIT, WORKDIR_EXISTING, WORKDIR_NEW };

struct spec_pair {
	char *name, *value; /* value NULL: take it from the caller */
	bool optional;	    /* fine when the caller has none */
};

struct spec {
	char **argv; /* NULL-terminated; owned */
	size_t argc;
	char *shell; /* -c STRING: runs `sh -c STRING` with argv as $0, $1 … */

	struct spec_limit limits[LIMIT__COUNT];
	uint64_t kill_after_ns; /* grace; default 2 s */
	int stop_signal;	/* default SIGTERM */
	char *preset;		/* --limits, NULL when not named */

	struct spec_pair *env;
	size_t env_count;
	char **pass_env; /* globs */
	size_t pass_env_count;
	bool pass_path;

	char *user, *group; /* names or numbers, NULL: default rule */
	bool keep_groups;

	enum stdin_mode stdin_mode;
	char *stdin_file;
	enum tristate pty;
	uint64_t spill_at_bytes; /* 4 MiB */
	uint64_t preview_bytes;	 /* 64 KiB: half head, half tail */
	/* Said, not defaults: they neither shrink with the cap nor give way to a profile. */
	bool spill_at_set, preview_set, kill_after_set;
	bool keep_spill; /* default true */
	bool quiet, verbose, json, tree;
	enum tristate color;
	char *result; /* FILE or "fd:N" */

	enum tristate pid_ns;
	enum owner_mode owner_mode;
	int64_t owner_arg; /* pid or fd */
	enum leftovers leftovers;
	bool detach, kill_with_keeper; /* the latter of an attached tree, which else survives it */
	pid_t attach;		       /* a tree that runs already; 0: start a command */
	char *attach_cgroup;	       /* with all of this group, NULL: none … */
	bool attach_session;	       /* … or of its session */
	char *name;
	struct spec_pair *labels;
	size_t label_count;
	char *cgroup_parent;

	char *profile;	       /* NULL: not named */
	bool audit;	       /* log what file policy would deny, deny nothing */
	bool drop_privileges;  /* no capabilities, no_new_privs: every profile but `none` */
	struct net_policy net; /* settled by spec_check */
	char **allow_reduced;
	size_t allow_reduced_count;
	enum workdir_mode workdir_mode;
	char *workdir, *chdir;
	bool private_tmp;
	struct file_wish *files;
	size_t file_count;
	struct spec_mount *mounts;
	size_t mount_count;
	char *cache;	    /* where tool caches are kept, as written; NULL: nowhere of ours */
	bool cache_private; /* tool caches that are gone at the end; not with `cache` */
};

void spec_init(struct spec *spec);
void spec_done(struct spec *spec);
/* The command and its arguments, copied. More than SPEC_ARGS_MAX or SPEC_ARGS_BYTES is refused. */
int spec_set_command(struct spec *spec, int argc, char *const *argv, struct err *err);

/* Cross-option rules, called once all options are in: contradictions, preview <= spill <=
 * output, empty command, options that this build refuses. Resolves presets, and what follows: no
 * deadline becomes waived, a detached run has no owner unless one was named. */
int spec_check(struct spec *spec, struct err *err);

/* Whether `capability` was named as one that may be missing (--allow-reduced). */
bool spec_may_reduce(const struct spec *spec, const char *capability);
/* Of runs, labels, variables: 1 to `max` bytes of UTF-8 without control characters. */
bool spec_name_valid(const char *name, size_t max);

/* 64 hex digits over a canonical form of what decides how the command runs (environment values too;
 * names, labels, presentation not), independent of option order. Call after spec_check. */
int spec_digest(const struct spec *spec, char out[65], struct err *err);

#endif
