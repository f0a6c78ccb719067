/* SPDX-License-Identifier: Apache-2.0 */
/* files_acts: what is tried inside a sandbox answers 0 or a negative errno; and the directory it is tried
 * on. */
#ifndef KERNEL_FILES_ACTS_H
#define KERNEL_FILES_ACTS_H

#include "files_tree.h"

/* ---- what is tried --------------------------------------------------------------------------- */

static inline int said(long rc)
{
	return rc < 0 ? -errno : 0;
}

static inline int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644);

	return fd < 0 ? -errno : close(fd);
}

/* One act and what it must answer, inside: the line that differs is told. */
#define ANSWERS(want, call) answers(call, want, #call, __FILE__, __LINE__)
static inline void answers(int got, int want, const char *what, const char *file, int line)
{
	if (got == want)
		return;
	print_error("%s:%d: %s: %s, not %s\n", file, line, what, got ? strerrorname_np(-got) : "0",
		    want ? strerrorname_np(-want) : "0");
	_exit(99);
}

/* ---- the directory --------------------------------------------------------------------------- */

static inline void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd))
		fail_msg("cannot write '%s': %s", path, strerror(errno));
}

static inline void scratch_make(const char *const *dirs)
{
	if (system("rm -rf " SCRATCH) || mkdir(SCRATCH, 0755))
		fail_msg("cannot make " SCRATCH);
	for (; *dirs; dirs++)
		MUST(!mkdir(*dirs, 0755));
}

/* The half, NULL on tier B. Where LSM programs work, file hooks that do not are a failure. */
static inline struct kern *files_kern(void)
{
	struct kern *k = open_kern();
	const char *why;

	if (files_available(k, &why))
		return k;
	if (kern_facts(k)->lsm)
		fail_msg("%s", why);
	print_message("tier B: %s\n", why);
	kern_close(k);
	kern_unload(NULL);
	return NULL;
}

#endif
