/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place: where one path leads on this host. The paths of a policy mostly lie side by side: the directory around the
 * one before is remembered, so that the next one costs a single look.
 */
#ifndef KERN_PLACE_H
#define KERN_PLACE_H

#include <limits.h>

#include "kern/paths.h"

/* All zero: nothing is remembered. */
struct place_memory {
	char text[PATH_MAX]; /* a directory as it was written, "": none */
	char real[PATH_MAX]; /* canonical, "": there is none */
};

/* `text` has neither patterns nor quotes. The caller frees out->path. */
int place_find(struct place_memory *memory, const char *text, struct paths_place *out,
	       struct err *err);

/* DIR/NAME; false when that is too long. */
bool place_join(char path[PATH_MAX], const char *dir, const char *name);

/* Whether this errno says that something on the way is not there. */
bool place_missing(int error);

#endif
