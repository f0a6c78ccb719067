/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/files_filter.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

int files_filter_open(struct sbx_fs_filter **filter, int fd)
{
	void *at = fd < 0 ? MAP_FAILED
			  : mmap(NULL, sizeof(**filter), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_POPULATE, fd, 0);

	*filter = NULL;
	if (at == MAP_FAILED)
		return fd < 0 ? fd : -errno;
	*filter = at;
	return 0;
}

void files_filter_close(struct sbx_fs_filter *filter)
{
	if (filter)
		munmap(filter, sizeof(*filter));
}

/* Other keepers count in the same cells. */
static void count(struct sbx_fs_filter *filter, uint64_t cell, int by)
{
	uint8_t *at = &filter->cells[cell];
	uint8_t before = __atomic_load_n(at, __ATOMIC_SEQ_CST);

	while (before != SBX_FS_CELL_FULL && (by > 0 || before) &&
	       !__atomic_compare_exchange_n(at, &before, (uint8_t)(before + by), false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

void files_filter_add(struct sbx_fs_filter *filter, uint64_t cell)
{
	count(filter, cell, 1);
}

void files_filter_remove(struct sbx_fs_filter *filter, uint64_t cell)
{
	count(filter, cell, -1);
}
