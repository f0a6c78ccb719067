/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rundir: /run/sbx/ID/{sock,meta.json,result.json,stdout.spill,stderr.spill}.
 *
 * The top and the directories of runs are root's, 0711: a user reaches what he can name and lists
 * nothing. Every file is root's 0600 while its run lives (the run's own processes, which may have the
 * reader's uid, cannot touch it) and rundir_publish hands result and spills to the reader. meta.json
 * stays root's for ever: a sweep acts on what it says.
 *
 * The keeper holds an flock on its directory; whoever can take it shared knows that the keeper is
 * dead. SBX_RUN_DIR moves the top (tests).
 */
#ifndef RUN_RUNDIR_H
#define RUN_RUNDIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define RUNDIR_KEEP_COUNT 1000
#define RUNDIR_KEEP_NS (24ULL * 3600 * 1000000000)
#define RUNDIR_MAX 16384	   /* entries one walk looks at */
#define RUNDIR_JSON_MAX (64 << 20) /* bytes of a JSON file that is read back */

const char *rundir_top(void); /* "/run/sbx" or $SBX_RUN_DIR */
/* The top itself, made when missing: a descriptor or a negative errno. */
int rundir_open_top(struct err *err);

struct rundir {
	char id[16];
	char path[256];
	int fd; /* O_RDONLY|O_DIRECTORY; a keeper's carries the lock, -1: closed */
	uid_t reader;
	gid_t reader_gid;
	bool tidy_due; /* from rundir_create: call sweep_dead and rundir_prune once the result is out */
};

/* Makes and locks it. Fails with -EEXIST when the id is taken; leaves nothing behind on failure. */
int rundir_create(struct rundir *d, const char *id, uid_t reader, gid_t reader_gid,
		  struct err *err);
/* An existing one, without its lock; `reader` is the owner of result.json, 0 while there is none. */
int rundir_open(struct rundir *d, const char *id, struct err *err);
void rundir_close(struct rundir *d); /* idempotent; drops the lock */

int rundir_write_json(struct rundir *d, const char *name, json_t *value,
		      struct err *err); /* by rename */
/* New reference, or NULL and *err (ERR_NOT_FOUND when there is no such file). */
json_t *rundir_read_json(const struct rundir *d, const char *name, struct err *err);
/* New file, root's, 0600, O_EXCL|O_NOFOLLOW|O_RDWR. The descriptor or a negative errno. */
int rundir_create_file(struct rundir *d, const char *name, struct err *err);
/* Opens a regular file for reading, never through a link. The descriptor or a negative errno. */
int rundir_open_file(const struct rundir *d, const char *name);
/* result.json and spills become the reader's, 0400. Call when the tree is gone. */
int rundir_publish(struct rundir *d, struct err *err);
/* The last step of a run, after group and rows are gone: removes the socket. Until then a sweep would finish
 * what a dead keeper left. Keeps the lock. */
void rundir_release(struct rundir *d);
bool rundir_unreleased(const struct rundir *d);
int rundir_remove(struct rundir *d); /* everything */

enum rundir_state {
	RUNDIR_MAKING, /* too young to tell */
	RUNDIR_LIVE,   /* its keeper lives */
	RUNDIR_ENDED,  /* has a result */
	RUNDIR_DEAD,   /* neither: sweep_dead gives it a result */
};
enum rundir_state rundir_state(const struct rundir *d);

/* Calls fn for every run directory; a negative return of fn ends the walk and is returned. For a user
 * who is not root: for every run that has him as its reader (rundir_index.h). */
int rundir_each(int (*fn)(void *arg, struct rundir *d, enum rundir_state state), void *arg);
/* Removes ended ones past age or count; never one whose keeper lives. */
void rundir_prune(void);

#endif
