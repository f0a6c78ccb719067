/* SPDX-License-Identifier: Apache-2.0 */
/* own: scope-bound ownership. `own_fd fd = -1;` closes at the end of its scope, `take_fd(&fd)`
 * hands it on. */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void own_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
static inline void own_free(void *p)
{
	free(*(void **)p);
}
static inline void own_close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}
static inline void own_close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define own_fd __attribute__((cleanup(own_close_fd))) int
#define own_str __attribute__((cleanup(own_free))) char *
#define own_mem __attribute__((cleanup(own_free)))
#define own_file __attribute__((cleanup(own_close_file))) FILE *
#define own_dir __attribute__((cleanup(own_close_dir))) DIR *

static inline int take_fd(int *fd)
{
	int got = *fd;

	*fd = -1;
	return got;
}
static inline void *take_ptr(void *pp)
{
	void **p = pp;
	void *got = *p;

	*p = NULL;
	return got;
}

/* Closes *fd when it is open and leaves -1. */
static inline void close_fd(int *fd)
{
	own_close_fd(fd);
	*fd = -1;
}

#endif
