/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec: everything one run was asked for, as a value. Pure: text in, struct out, no system call.
 *
 * Built by the command line (tools/) through the option table below, later by profiles and durable
 * requests; every later stage reads it and none changes it. Each limit carries its origin.
 */
#ifndef POLICY_SPEC_H
#define POLICY_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Bounds of what a caller can make us hold (contract 27). */
#define SPEC_ARGS_MAX 65536	      /* arguments */
#define SPEC_ARGS_BYTES (4 << 20)     /* argv, all of it */
#define SPEC_ENV_MAX 4096	      /* entries */
#define SPEC_LABELS_MAX 64
#define SPEC_NAME_MAX 64

enum limit_id {
	LIMIT_WALL,	/* ns */
	LIMIT_IDLE,	/* ns */
	LIMIT_CPU_TIME, /* ns */
	LIMIT_MEMORY,	/* bytes */
	LIMIT_SWAP,	/* bytes; 0 is allowed here */
	LIMIT_CPUS,	/* millicores */
	LIMIT_PIDS,	/* tasks */
	LIMIT_DISK,	/* bytes */
	LIMIT_MAX_FILE, /* bytes */
	LIMIT_NOFILE,	/* descriptors a process */
	LIMIT_OUTPUT,	/* bytes, stdout + stderr */
	LIMIT_EXECS,
	LIMIT_DEPTH,
	LIMIT__COUNT,
};

enum limit_origin { ORIGIN_UNSET, ORIGIN_EXPLICIT, ORIGIN_PROFILE, ORIGIN_PRESET, ORIGIN_INHERITED, ORIGIN_WAIVED };

struct spec_limit {
	enum limit_origin origin; /* UNSET: never asked for. WAIVED: `none` was said */
	uint64_t value;
	char origin_name[32]; /* preset or profile */
};

/* The one table of limits: names in the result, options, units, capability that enforces it. */
struct limit_info {
	const char *name;	/* "wall" */
	const char *option;	/* "--timeout" */
	const char *unit;	/* "ns" | "bytes" | "millicores" | "count" */
	const char *capability; /* DESIGN 9 name */
	bool kills;		/* a breach ends the tree (else it is a refusal inside) */
};
extern const struct limit_info limit_table[LIMIT__COUNT];

enum stdin_mode { STDIN_NULL, STDIN_INHERIT, STDIN_FILE };
enum tristate { TRI_AUTO, TRI_ON, TRI_OFF };
enum owner_mode { OWNER_PARENT, OWNER_PID, OWNER_NONE, OWNER_FD };
enum leftovers { LEFTOVERS_KILL, LEFTOVERS_WAIT, LEFTOVERS_KEEP };
enum workdir_mode { WORKDIR_INHERIT, WORKDIR_EXISTING, WORKDIR_NEW };

struct spec_pair {
	char *name, *value; /* value NULL: take it from the caller */
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
	bool keep_groups, allow_root_caps;

	enum stdin_mode stdin_mode;
	char *stdin_file;
	enum tristate pty;
	uint64_t spill_at_bytes; /* 4 MiB */
	uint64_t preview_bytes;	 /* 64 KiB: half head, half tail */
	bool keep_spill;	 /* default true */
	bool quiet, verbose, json, tree;
	enum tristate color;
	char *result; /* FILE or "fd:N" */

	enum tristate pid_ns;
	enum owner_mode owner_mode;
	int64_t owner_arg; /* pid or fd */
	enum leftovers leftovers;
	bool detach;
	char *name;
	struct spec_pair *labels;
	size_t label_count;
	char *cgroup_parent;

	char *profile; /* NULL: not named */
	char **allow_reduced;
	size_t allow_reduced_count;
	bool audit;

	enum workdir_mode workdir_mode;
	char *workdir;
	char *chdir;
	bool private_tmp;
};

void spec_init(struct spec *spec);
void spec_done(struct spec *spec);

/* Limits of a preset ("strict", "default", "relaxed", "none") into limits that are still unset. */
int spec_apply_preset(struct spec *spec, const char *name, struct err *err);

/* Cross-option rules, called once all options are in: contradictions, preview <= spill <= output, empty command,
 * options that this build refuses. Resolves presets. */
int spec_check(struct spec *spec, struct err *err);

/* 64 hex digits over a canonical form of the semantic fields (environment values included, never
 * shown), independent of option order. `out` holds 65 bytes. */
int spec_digest(const struct spec *spec, char out[65], struct err *err);

/* Whether a variable's name looks like a secret (contract 42). */
bool spec_secret_name(const char *name);

/* The environment of the command (DESIGN 8): NULL-terminated "NAME=VALUE" vector, caller frees with
 * spec_environ_free. `caller` is the caller's environ; the passwd facts are the run user's. */
struct spec_user {
	const char *name, *home, *shell; /* NULL: keep the caller's HOME, USER, … */
};
int spec_environ(const struct spec *spec, char *const *caller, const struct spec_user *user, const char *id,
		 char ***out, struct err *err);
void spec_environ_free(char **environ_vector);

#endif
