/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_scene: the directory that most tests of file policies are about.
 *
 *	r/f			read and execute only, as everything that is not below w
 *	w/f, w/d/f, w/d/ro/f	writable, but for w/ro and w/d/ro
 *	w/deny/f		nothing
 *	w/noexec/true		a program that must not run
 *	w/.env			must never come to be
 */
#ifndef KERNEL_FILES_SCENE_H
#define KERNEL_FILES_SCENE_H

#include "files_acts.h"

#define F(path) SCRATCH "/" path

static struct kern *k;

static const struct line scene[] = {
	{ FILE_RO, "/", FILE_OBJECT },	      { FILE_RW, "w", FILE_OBJECT },
	{ FILE_RO, "w/ro", FILE_OBJECT },     { FILE_RO, "w/d/ro", FILE_OBJECT },
	{ FILE_DENY, "w/deny", FILE_OBJECT }, { FILE_NOEXEC, "w/noexec", FILE_OBJECT },
	{ FILE_DENY, "w/.env", FILE_ENTRY },
};

static inline void scene_fill(void)
{
	static const char *const dirs[] = { F("w"),	 F("w/ro"),	F("w/d"), F("w/d/ro"),
					    F("w/deny"), F("w/noexec"), F("r"),	  NULL };

	scratch_make(dirs);
	put(F("w/f"), "open");
	put(F("w/d/f"), "open");
	put(F("w/ro/f"), "read");
	put(F("w/d/ro/f"), "read");
	put(F("w/deny/f"), "secret");
	put(F("r/f"), "read");
	if (system("cp /bin/true " F("w/noexec/true") " && cp /bin/true " F("w/true")))
		fail_msg("cannot copy /bin/true");
}

static inline int scene_make(void **state)
{
	(void)state;
	k = files_kern();
	if (k)
		scene_fill();
	return 0;
}

static inline int scene_unmake(void **state)
{
	(void)state;
	if (!k)
		return 0;
	kern_close(k);
	return system("rm -rf " SCRATCH) || kern_unload(NULL);
}

/* Status of act() in a sandbox under the scene's policy. */
static inline void under_policy(int (*act)(void *arg))
{
	if (!k)
		skip();
	assert_int_equal(GUARDED(k, scene, act, NULL), 0);
}

#endif
