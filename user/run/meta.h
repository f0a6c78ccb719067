/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meta: meta.json, what somebody else must know to clean up after a dead keeper.
 *
 * It embeds the result as it was at launch (tier, limits, digest), so that a result written later by
 * a sweep never derives them again (contract 77). Protected: it holds argv. Only root reads it.
 */
#ifndef RUN_META_H
#define RUN_META_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "run/result.h"
#include "run/rundir.h"

#define META_SCHEMA 1
#define META_ARGV_BYTES 4096 /* of argv that are kept; "argv_dropped" counts the rest */

struct meta_facts {
	pid_t root_pid;		   /* 0: not made yet */
	const char *cgroup_driver; /* NULL: no group yet */
	const char *cgroup_path;   /* of the v2 group */
	uint64_t
		cgroup_id; /* its incarnation: a group of the same name is not ours (contract 108) */
};

/* `at_launch` has its spec. New reference, NULL when out of memory. */
json_t *meta_json(const struct result *at_launch, const struct meta_facts *facts,
		  const struct rundir *d);
/* Writes it: once, after the group was made and before the child is released. */
int meta_write(struct rundir *d, const struct result *at_launch, const struct meta_facts *facts,
	       struct err *err);

struct meta {
	json_t *json;
	bool this_boot;
	bool attached; /* not started by its keeper, which does not own it */
	pid_t keeper_pid, root_pid;
	const char *cgroup_path; /* borrowed from json; NULL: none */
	uint64_t cgroup_id;
	uid_t reader;
	gid_t reader_gid;
	json_t *result; /* borrowed: the result at launch */
};
/* Reads and checks it; ERR_NOT_FOUND when there is none. */
int meta_read(struct meta *m, const struct rundir *d, struct err *err);
void meta_done(struct meta *m);

/* The command as one line, arguments separated by spaces; cut to `size`. From "argv" of a meta or status. */
void meta_command(const json_t *argv, char *buf, size_t size);
/* argv of a spec as JSON, bounded; *dropped counts what was left out. */
json_t *meta_argv(const struct spec *spec, size_t *dropped);

#endif
