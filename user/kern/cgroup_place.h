/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_place: where groups of runs go on this host, and by which driver. Looks, changes nothing.
 *
 * Found from statfs of the usual places, /proc/self/cgroup, PID 1 and delegation marks; mountinfo is
 * read (50 µs) only where those do not settle it.
 */
#ifndef KERN_CGROUP_PLACE_H
#define KERN_CGROUP_PLACE_H

#include <stdbool.h>

#include "base/err.h"
#include "kern/cgroup.h"
#include "kern/cgroup_paths.h"

/* The leaf that our own processes move to where a group may not hold both processes and limits. Not
 * "sbx-…": it outlives the run that made it. */
#define CGROUP_LEAF "leaf.sbx"
#define CGROUP_PREFIX "sbx-"

/* Controllers that enforce limits. */
enum cgroup_kind { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_KINDS };
/* "memory" … and the capability it stands for, "memory_cap" … */
const char *cgroup_kind_name(enum cgroup_kind kind);
const char *cgroup_kind_capability(enum cgroup_kind kind);

struct cgroup_place {
	enum cgroup_driver driver;
	struct cgroup_paths own;  /* our own v2 group */
	struct cgroup_paths base; /* below which groups of runs are made */
	bool whole;		  /* names count from the hierarchy's real root */
	bool container; /* base is the root of a cgroup namespace: what is in it is one container */
	bool systemd;	/* PID 1 is systemd: only delegated groups may be changed */
	char *mountinfo;	/* NULL until it is needed */
	char proc_cgroup[8192]; /* of ourselves */
};

/* `parent` as in cgroup_opts. ERR_CANNOT_ENFORCE (tree_kill) when no cgroup2 is mounted. */
int cgroup_place_find(struct cgroup_place *place, const char *parent, struct err *err);
void cgroup_place_done(struct cgroup_place *place);

/* Whether a group's directory is that of a run, by its name. */
bool cgroup_place_made_by_us(const char *dir);

/* Our own group in the v1 hierarchy of a kind. -ENOENT: v1 does not have the controller. */
int cgroup_place_v1(struct cgroup_place *place, enum cgroup_kind kind, struct cgroup_paths *own);

#endif
