/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_filter: the counters before the rows of file policies (sbx/files.h), as user space keeps
 * them. Never counts a row out that may still be there: a wrong count upwards costs look-ups, one
 * downwards would be a rule that is not found.
 */
#ifndef KERN_FILES_FILTER_H
#define KERN_FILES_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "sbx/files.h"

/* Maps the counters of the map behind `fd`; negative errno. */
int files_filter_open(struct sbx_fs_filter **filter, int fd);
void files_filter_close(struct sbx_fs_filter *filter);

/* Before the row is inserted. */
void files_filter_add(struct sbx_fs_filter *filter, uint64_t cell);
/* After the row was deleted, by whoever the kernel says has deleted it. */
void files_filter_remove(struct sbx_fs_filter *filter, uint64_t cell);

#endif
