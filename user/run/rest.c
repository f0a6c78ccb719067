/* SPDX-License-Identifier: Apache-2.0 */
#include "run/rest.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

/* Only what is mapped from the file and never written: nothing can be lost. */
static int drop_pages(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = (info->dlpi_addr + p->p_vaddr) & ~(page - 1);
		uintptr_t end = info->dlpi_addr + p->p_vaddr + p->p_filesz;

		if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
			madvise((void *)begin, end - begin, MADV_DONTNEED);
	}
	return 1; /* the program comes first, and libraries are others' too */
}

void rest(void)
{
	malloc_trim(0);
	dl_iterate_phdr(drop_pages, NULL);
}
