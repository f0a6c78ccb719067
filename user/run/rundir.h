/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rundir: /run/sbx/ID/{sock,meta.json,result.json,stdout.spill,stderr.spill}.
 *
 * Root 0700 at the top; result and spills readable by the invoking user. Directories of ended runs
 * are kept until 1,000 newer ones or 24 h. SBX_RUN_DIR moves the top (tests).
 */
#ifndef RUN_RUNDIR_H
#define RUN_RUNDIR_H

#include <jansson.h>
#include <sys/types.h>

#include "base/err.h"

#define RUNDIR_KEEP_COUNT 1000
#define RUNDIR_KEEP_NS (24ULL * 3600 * 1000000000)

const char *rundir_top(void); /* "/run/sbx" or $SBX_RUN_DIR */

struct rundir {
	char id[16];
	char path[256];
	int fd; /* O_PATH|O_DIRECTORY */
	uid_t reader;
	gid_t reader_gid;
};

int rundir_create(struct rundir *d, const char *id, uid_t reader, gid_t reader_gid, struct err *err);
int rundir_open(struct rundir *d, const char *id, struct err *err);
void rundir_close(struct rundir *d);
int rundir_write_json(struct rundir *d, const char *name, json_t *value, struct err *err); /* rename */
json_t *rundir_read_json(const struct rundir *d, const char *name, struct err *err);
/* New 0600 file owned by the reader, O_EXCL|O_NOFOLLOW. */
int rundir_create_file(struct rundir *d, const char *name, struct err *err);
int rundir_remove(struct rundir *d); /* everything */
/* Removes ended ones past age or count; never one whose keeper lives. */
void rundir_prune(void);

#endif
