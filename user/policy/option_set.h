/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_set: what each kind of option does with its value. Pure.
 *
 * Referred to by the rows of the option table only; `option->aux` says which field where one setter
 * serves several rows.
 */
#ifndef POLICY_OPTION_SET_H
#define POLICY_OPTION_SET_H

#include "policy/option.h"

typedef int option_set_fn(struct spec *spec, const struct option *option, const char *value,
			  struct err *err);

option_set_fn option_set_limit; /* aux: limit id */
option_set_fn option_set_grace, option_set_signal, option_set_preset;
option_set_fn option_set_true, option_set_false; /* aux: offset of a bool */
option_set_fn option_set_text;			 /* aux: offset of a string, which is not empty */
option_set_fn option_set_env, option_set_pass_env;
option_set_fn option_set_user;
option_set_fn option_set_stdin, option_set_pty,
	option_set_color; /* pty: aux is TRI_ON or TRI_OFF */
option_set_fn option_set_spill_at, option_set_preview;
option_set_fn option_set_result, option_set_owner, option_set_leftovers, option_set_pid_ns;
option_set_fn option_set_name, option_set_label, option_set_cgroup_parent;
option_set_fn option_set_profile, option_set_allow_reduced, option_set_workdir;
option_set_fn option_set_file; /* aux: enum file_verb */
option_set_fn option_set_mount, option_set_cache;
option_set_fn option_set_net, option_set_allow_net, option_set_allow_bind, option_set_allow_unix;

/* A grace on its own (stop): a duration, or "none" for 0. */
int option_grace(const char *value, uint64_t *ns, struct err *err);

#endif
