/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe: what this host can enforce, found out by doing the forbidden thing in a child and seeing it
 * refused (contracts 70 to 75). Lists (LSM list, controllers) are read only to say what was listed.
 *
 * Never fails: what could not be tried is not available, and says why. Leaves no process, group or
 * mount behind; each try has a time budget.
 */
#ifndef KERN_PROBE_H
#define KERN_PROBE_H

#include <stdbool.h>

#include "policy/capability.h"

#define PROBE_TRY_MS 3000 /* for one try */

struct probe_row {
	bool listed;	/* the host says it has it */
	bool attempted; /* the try was refused as it should be */
	bool enforced;	/* and this build uses it: a run may ask for it */
	char mechanism[48];
	char detail[256]; /* what was seen; why not */
	char remedy[320]; /* "" when there is nothing to do */
};

enum probe_tier { PROBE_TIER_NONE, PROBE_TIER_A, PROBE_TIER_B };

struct probe_report {
	struct probe_row rows[CAP__COUNT];
	enum probe_tier tier;
	char driver[24]; /* of control groups */
};

/* Before each part `next`, unless NULL, hears what is tried. */
void probe_host(struct probe_report *out, void (*next)(const char *what));

/* Fills mechanism and detail. */
void probe_say(struct probe_row *row, const char *mechanism, const char *detail_fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The parts, by what they try. Each fills its rows. */
void probe_tracking(struct probe_report *r);	/* tracking, kernel kill, attach, LSM */
void probe_groups(struct probe_report *r);	/* tree kill, memory, cpu, pids */
void probe_confinement(struct probe_report *r); /* files, network, isolation, privileges, disk */
void probe_keeper(struct probe_report *r);	/* time budget, output capture */

#endif
