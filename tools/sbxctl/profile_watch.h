/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_watch: one run of a command that is told on and not refused: as an audit where the kernel half can, else
 * under strace with the rules of the base taken away. All else of the base holds: limits, private /tmp, environment,
 * no capabilities.
 */
#ifndef SBXCTL_PROFILE_WATCH_H
#define SBXCTL_PROFILE_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "kern/user.h"
#include "policy/files.h"
#include "policy/spec.h"
#include "policy/trace.h"

struct watch {
	const struct spec *spec; /* with the base applied */
	char *const *options;	 /* the words of it for `run`, -p apart */
	size_t option_count;
	const struct file_policy *policy; /* of the base */
	const struct user *user;	  /* as profile_load_context leaves it */
	const char *directory;
	bool to_stderr; /* what it writes to stdout */
	trace_fn *tell;
	void *arg;
};

struct watched {
	const char *by; /* who saw it */
	int status;	/* of the command, as sbxctl run ends */
	size_t unknown; /* acts of which nobody knows on what */
};

/* 0; 1 when it could not be run, which `run` has said; or a negative errno. */
int profile_watch(const struct watch *w, struct watched *out, struct err *err);

#endif
