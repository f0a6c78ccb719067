/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform: hostile acts, and the promises that each would break.
 *
 * An act is done by this very program, inside a run and, as its control, in one that does not forbid it. It says
 * on its stdout how far it came: CONFORM_BEGUN before, CONFORM_BREACHED only when all of it was done.
 */
#ifndef SBXCTL_CONFORM_H
#define SBXCTL_CONFORM_H

#include <stddef.h>

#define CONFORM_BEGUN "conform: begun"
#define CONFORM_BREACHED "conform: breached"
#define CONFORM_REFUSED "conform: refused"

#define CONFORM_BARE "bare"
#define CONFORM_LOCK \
	"work/lock" /* held by what the act "daemon" leaves, which ends when it is unlinked */

/* What the acts are about; made and removed by who runs them. */
struct conform_scene {
	char dir[96]; /* work/ (the working directory), secret, outside/, socket */
	int outsider; /* a process that is not in any run */
	int port;     /* TCP, on 127.0.0.1 */
	int shm;      /* a System V segment */
};

struct conform_act {
	const char *name;
	/* 0: done; a negative errno: refused, or -ENOTSUP where this host has nothing to try it on. */
	int (*act)(const struct conform_scene *s);
};

struct conform_row {
	int contract;
	const char *group, *name, *act;
	const char *options; /* of the run, by spaces; %s: the scene's directory */
	const char *control; /* of the run that does not forbid it; CONFORM_BARE: no run at all */
};
extern const struct conform_row conform_rows[];
extern const size_t conform_row_count;

/* What a row's act is, as a process of its own: `words` are act, dir, outsider, port, shm. The exit status. */
int conform_act(int count, char **words);

#endif
