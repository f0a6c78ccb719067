/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/entries.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>

int entries_each(int fd, int (*fn)(void *arg, const char *name, unsigned char type), void *arg)
{
	_Alignas(struct dirent64) char room[8192];
	ssize_t n;

	while ((n = getdents64(fd, room, sizeof(room))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e = (const void *)(room + at);
			int rc = strcmp(e->d_name, ".") && strcmp(e->d_name, "..")
					 ? fn(arg, e->d_name, e->d_type)
					 : 0;

			if (rc)
				return rc;
			at += e->d_reclen;
		}
	}
	return n < 0 ? -errno : 0;
}
