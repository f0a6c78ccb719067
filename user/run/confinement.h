/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confinement: the file policy of one run: resolved, put in force by the tier this host has, told about,
 * taken back.
 */
#ifndef RUN_CONFINEMENT_H
#define RUN_CONFINEMENT_H

#include "kern/confine.h"
#include "kern/files.h"
#include "kern/report.h"
#include "run/result.h"

struct run;

struct confinement {
	bool asked; /* there is a policy */
	bool hooks; /* tier A: the kernel half decides */
	struct file_policy policy;
	struct confine_opts opts; /* what the child does to itself */
	struct confine_limits limits;
	struct mounts_bind binds[SPEC_MOUNTS_MAX + 1]; /* and resolv.conf */
	struct files *files;			       /* tier A */
	int report;				       /* tier B, -1: none */
	char directory[4096];			       /* the working directory */
	char top[4096];	  /* of the work tree around it, when that is below the private /tmp */
	char cache[4096]; /* of tools, "": none */
	bool denied_news; /* the ring told of a refusal */
	uint64_t told_ns; /* refusals up to here were told */
};

/* Where tools keep their caches: --cache, or below the private /tmp; NULL: where they do anyway. */
int confinement_cache(struct run *run, const char *home, const char **cache, struct err *err);
/* Makes the directory of --cache when it is missing, the run user's. */
int confinement_make_cache(struct run *run, struct err *err);
/* Resolves the policy against this host and chooses the tier. What the tier cannot hold is refused unless
 * the caller allowed to do without it. */
int confinement_resolve(struct run *run, struct err *err);
/* Between the child's report and its release. */
int confinement_enforce(struct run *run, struct err *err);
void confinement_clauses(const struct run *run, struct result *result);
/* After events were consumed: tells of each new refusal once. */
void confinement_tell(struct run *run);
/* Idempotent. */
void confinement_release(struct run *run);

#endif
