/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rundir_index: which runs a user may read, for the user: by-uid/UID/ID below the top, empty files.
 *
 * The top itself lists nothing to anybody but root. An entry is a hint: it may outlive its run until the
 * next prune, and who may read what is decided by the run directory alone.
 */
#ifndef RUN_RUNDIR_INDEX_H
#define RUN_RUNDIR_INDEX_H

#include <sys/types.h>

/* By root, in the opened top. Failing is no fault of the run: it is then listed to root alone. */
void rundir_index_add(int top, const char *id, uid_t reader, gid_t reader_gid);
/* Calls fn for each id that `reader` has. A negative return of fn ends the walk and is returned; 0 when there is no list. */
int rundir_index_each(const char *top, uid_t reader, int (*fn)(void *arg, const char *id),
		      void *arg);
/* Takes out entries without a run, at most a bounded number. */
void rundir_index_tidy(int top);

#endif
