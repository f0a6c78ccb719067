/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view: the kernel half for who looks on: every sandbox and every tracked process, in one pass each,
 * O(sandboxes) and O(tasks) in the kernel. Reads only: nothing is loaded, written or signalled.
 */
#ifndef KERN_VIEW_H
#define KERN_VIEW_H

#include "kern/kern.h"

/* Opens the half that is loaded; ERR_NOT_FOUND (-ENOENT, -ESTALE) when none of this build is. kern_close ends it. */
int kern_look(struct kern **out, struct err *err);
/* Whether the half was unloaded meanwhile: what it says is over. */
bool view_stale(struct kern *k);

/* Calls fn for the row of every sandbox. A return other than 0 ends the walk and is returned. */
int view_sandboxes(struct kern *k, int (*fn)(void *arg, const struct sbx_sandbox *row), void *arg);

#define VIEW_UNKNOWN UINT64_MAX
struct view_process {
	uint64_t sandbox;	   /* the innermost one */
	uint64_t start_ns, cpu_ns; /* CLOCK_BOOTTIME; user and system of all its threads */
	uint32_t pid, ppid;
	uint64_t ended_cpu_ns; /* of cpu_ns, what threads used that have ended */
	uint32_t threads;
	char state;	     /* as in ps: R S D T Z …, '?' */
	bool root;	     /* of its sandbox */
	char comm[SBX_COMM]; /* any bytes; NUL-terminated */
};
struct view_processes {
	struct view_process *list; /* owned; by sandbox, then by start, then by pid */
	size_t count, room;
};
/* Replaces what is in it. What comes or goes meanwhile may be missed. */
int view_processes(struct kern *k, struct view_processes *out);
void view_processes_done(struct view_processes *p);

#endif
