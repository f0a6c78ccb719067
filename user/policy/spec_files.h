/* SPDX-License-Identifier: Apache-2.0 */
/* spec_files: the part of a spec that is about files. Pure. */
#ifndef POLICY_SPEC_FILES_H
#define POLICY_SPEC_FILES_H

#include "policy/files.h"

#define SPEC_FILES_MAX 4096 /* wishes, a profile's included */
#define SPEC_MOUNTS_MAX 64
#define SPEC_PATH_MAX 4095 /* bytes */

struct spec_mount {
	char *source, *target; /* target absolute, neither "/" nor with ".." */
	bool read_only;
	char *origin;
};

struct spec;

/* One more wish, copied. `text` is as written: a '-' before the path makes it optional. */
int spec_add_file(struct spec *spec, enum file_verb verb, const char *text, const char *origin,
		  unsigned int level, struct err *err);
/* One more mount, "SRC:DST[:ro]"; two on one place are refused. */
int spec_add_mount(struct spec *spec, const char *text, const char *origin, struct err *err);
void spec_files_done(struct spec *spec);

#endif
