/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/own.h"
#include "policy/option_set.h"
#include "policy/profile_key.h"
#include "policy/secret.h"

static int refuse(struct err *err, const char *value, const char *why)
{
	return err_say(err, ERR_VALIDATION, -EINVAL, "%.80s: %s", value, why);
}

/* "75%" of `whole`; false when it is not of that form. */
static bool percentage(const char *value, uint64_t whole, uint64_t *out)
{
	size_t len = strlen(value);
	own_str digits = NULL;
	uint64_t percent;

	if (!len || value[len - 1] != '%')
		return false;
	digits = strndup(value, len - 1);
	if (!digits || num_u64(digits, &percent) < 0 || !percent || percent > 1000000)
		return false;
	*out = whole / 100 * percent + whole % 100 * percent / 100;
	return true;
}

static int parse_limit(const struct profile_target *target, enum limit_id id, const char *value,
		       struct spec_limit *limit, struct err *err)
{
	/* One CPU is a thousand millicores. */
	uint64_t whole = id == LIMIT_MEMORY ? target->memory_bytes : id == LIMIT_CPUS ? 1000 : 0;

	if (whole && percentage(value, whole, &limit->value) && limit->value) {
		limit->origin = ORIGIN_PROFILE;
		return 0;
	}
	return limit_parse(limit, id, value, err);
}

static int set_limit(struct profile_target *target, const struct profile_key *key,
		     const char *value, struct err *err)
{
	struct spec_limit *limit = &target->spec->limits[key->aux], parsed = { 0 };
	int r = parse_limit(target, (enum limit_id)key->aux, value, &parsed, err);

	if (r < 0 || limit->origin != ORIGIN_UNSET)
		return r;
	if (parsed.origin == ORIGIN_EXPLICIT)
		parsed.origin = ORIGIN_PROFILE;
	snprintf(parsed.origin_name, sizeof(parsed.origin_name), "%s", target->name);
	*limit = parsed;
	return 0;
}

static int set_grace(struct profile_target *target, const struct profile_key *key,
		     const char *value, struct err *err)
{
	struct spec *spec = target->spec;
	uint64_t was = spec->kill_after_ns;
	bool said = spec->kill_after_set;
	int r = option_set_grace(spec, NULL, value, err);

	(void)key;
	if (said)
		spec->kill_after_ns = was;
	spec->kill_after_set = said;
	return r;
}

static int set_spill_at(struct profile_target *target, const struct profile_key *key,
			const char *value, struct err *err)
{
	uint64_t bytes = 0;
	int r = num_size(value, &bytes, err);

	(void)key;
	if (!r && !target->spec->spill_at_set)
		target->spec->spill_at_bytes = bytes;
	return r;
}

/* Only %h, %d and %%. */
static bool specifiers_known(const char *path)
{
	for (; (path = strchr(path, '%')); path += 2)
		if (!path[1] || !strchr("hd%", path[1]))
			return false;
	return true;
}

static int set_file(struct profile_target *target, const struct profile_key *key, const char *value,
		    struct err *err)
{
	if (!specifiers_known(value))
		return refuse(err, value, "a '%' that is none of %h, %d, %%");
	return spec_add_file(target->spec, (enum file_verb)key->aux, value, target->origin,
			     target->level, err);
}

static int set_private_tmp(struct profile_target *target, const struct profile_key *key,
			   const char *value, struct err *err)
{
	bool yes = !strcmp(value, "yes");

	(void)key;
	if (!yes && strcmp(value, "no") != 0)
		return refuse(err, value, "not one of yes, no");
	target->spec->private_tmp |= yes;
	return 0;
}

static int set_cache(struct profile_target *target, const struct profile_key *key,
		     const char *value, struct err *err)
{
	struct spec *spec = target->spec;

	(void)key;
	if (spec->cache)
		return 0;
	spec->cache_private = !strcmp(value, "private");
	if (spec->cache_private || !strcmp(value, "none"))
		return 0;
	if (value[0] != '/' && value[0] != '~')
		return refuse(err, value, "neither private, none nor an absolute path");
	spec->cache = strdup(value);
	if (!spec->cache)
		return err_set(err, -ENOMEM, "apply a profile");
	return spec_add_file(spec, FILE_RW, value, target->origin, target->level, err);
}

static int set_workdir(struct profile_target *target, const struct profile_key *key,
		       const char *value, struct err *err)
{
	struct spec *spec = target->spec;

	(void)key;
	if (value[0] != '/' && strcmp(value, "new") != 0)
		return refuse(err, value, "neither new nor an absolute path");
	if (spec->workdir_mode != WORKDIR_INHERIT || spec->chdir)
		return 0;
	return option_set_workdir(spec, NULL, value, err);
}

/* What lower levels allowed is gone; a level that says it again begins anew. */
static int set_mode(struct profile_target *target, const struct profile_key *key, const char *value,
		    struct err *err)
{
	(void)key;
	for (int mode = NET_NONE; mode <= NET_HOST; mode++) {
		if (strcmp(value, net_mode_name((enum net_mode)mode)) != 0)
			continue;
		if (mode != NET_ALLOW && target->allow_level == target->level)
			return refuse(err, value, "contradicts what is allowed beside it");
		if (mode != NET_ALLOW)
			net_policy_cut(&target->spec->net, target->level);
		target->spec->net.mode = (enum net_mode)mode;
		target->mode_level = target->level;
		return 0;
	}
	return refuse(err, value, "not one of none, allow, host");
}

/* Allow= and Bind= imply Mode=allow, as --allow-net does. */
static int imply_allow(struct profile_target *target, const char *value, struct err *err)
{
	struct net_policy *net = &target->spec->net;

	if (target->mode_level == target->level && net->mode != NET_ALLOW)
		return refuse(err, value, "contradicts the Mode= beside it");
	net->mode = NET_ALLOW;
	target->allow_level = target->level;
	return 0;
}

static int set_allow(struct profile_target *target, const struct profile_key *key,
		     const char *value, struct err *err)
{
	int r = imply_allow(target, value, err);

	(void)key;
	return r ? r
		 : net_policy_allow(&target->spec->net, value, target->origin, target->level, err);
}

static int set_bind(struct profile_target *target, const struct profile_key *key, const char *value,
		    struct err *err)
{
	int r = imply_allow(target, value, err);

	(void)key;
	return r ? r
		 : net_policy_bind(&target->spec->net, value, target->origin, target->level, err);
}

/* An exception to none and allow alike. */
static int set_unix(struct profile_target *target, const struct profile_key *key, const char *value,
		    struct err *err)
{
	(void)key;
	return net_policy_unix(&target->spec->net, value, target->origin, target->level, err);
}

/* The command line's -e stands. */
static bool said(const struct spec *spec, const char *value)
{
	size_t len = strcspn(value, "=");

	for (size_t i = 0; i < spec->env_count; i++)
		if (!strncmp(spec->env[i].name, value, len) && !spec->env[i].name[len])
			return true;
	return false;
}

static int set_env(struct profile_target *target, const struct profile_key *key, const char *value,
		   struct err *err)
{
	(void)key;
	if (!strchr(value, '='))
		return refuse(err, value, "not of the form NAME=VALUE; Pass= hands one over");
	if (said(target->spec, value))
		return 0;
	return option_set_env(target->spec, NULL, value, err);
}

/* A name that looks like a secret is passed when it is named in full: that is the grant. */
static int set_pass(struct profile_target *target, const struct profile_key *key, const char *value,
		    struct err *err)
{
	struct spec *spec = target->spec;
	int r;

	(void)key;
	if (strpbrk(value, "*?") || strchr(value, '=') || !secret_name(value))
		return option_set_pass_env(spec, NULL, value, err);
	if (said(spec, value))
		return 0;
	r = option_set_env(spec, NULL, value, err);
	if (!r)
		spec->env[spec->env_count - 1].optional = true;
	return r;
}

static int set_user(struct profile_target *target, const struct profile_key *key, const char *value,
		    struct err *err)
{
	(void)key;
	return target->spec->user ? 0 : option_set_user(target->spec, NULL, value, err);
}

static int set_owner(struct profile_target *target, const struct profile_key *key,
		     const char *value, struct err *err)
{
	(void)key;
	if (target->spec->owner_mode != OWNER_PARENT)
		return 0;
	return option_set_owner(target->spec, NULL, value, err);
}

#define NO_SECCOMP "filters of system calls are not in this build; leave it out"

/* DESIGN 8: section, name, argument, list, refused, setter, aux, help. */
const struct profile_key profile_keys[] = {
	{ "Limits", "RuntimeMax", "DUR", false, NULL, set_limit, LIMIT_WALL, "--timeout" },
	{ "Limits", "IdleMax", "DUR", false, NULL, set_limit, LIMIT_IDLE, "--idle-timeout" },
	{ "Limits", "KillAfter", "DUR", false, NULL, set_grace, 0, "--kill-after" },
	{ "Limits", "MemoryMax", "SIZE", false, NULL, set_limit, LIMIT_MEMORY,
	  "--memory, or N% of this host's" },
	{ "Limits", "MemorySwapMax", "SIZE", false, NULL, set_limit, LIMIT_SWAP, "--swap" },
	{ "Limits", "CPUQuota", "N", false, NULL, set_limit, LIMIT_CPUS,
	  "--cpus, or N% of one CPU" },
	{ "Limits", "CPUTimeMax", "DUR", false, NULL, set_limit, LIMIT_CPU_TIME, "--cpu-time" },
	{ "Limits", "TasksMax", "N", false, NULL, set_limit, LIMIT_PIDS, "--pids" },
	{ "Limits", "DiskMax", "SIZE", false, NULL, set_limit, LIMIT_DISK, "--disk" },
	{ "Limits", "FileSizeMax", "SIZE", false, NULL, set_limit, LIMIT_MAX_FILE, "--max-file" },
	{ "Limits", "OutputMax", "SIZE", false, NULL, set_limit, LIMIT_OUTPUT, "--max-output" },
	{ "Limits", "SpillAt", "SIZE", false, NULL, set_spill_at, 0, "--spill-at" },
	{ "Limits", "ExecsMax", "N", false, NULL, set_limit, LIMIT_EXECS, "--max-execs" },
	{ "Limits", "DepthMax", "N", false, NULL, set_limit, LIMIT_DEPTH, "--max-depth" },

	{ "Filesystem", "Read", "PATH", true, NULL, set_file, FILE_RO, "--ro" },
	{ "Filesystem", "Write", "PATH", true, NULL, set_file, FILE_RW,
	  "--rw; %d: unless it is /, a home or above one" },
	{ "Filesystem", "NoExec", "PATH", true, NULL, set_file, FILE_NOEXEC, "--noexec" },
	{ "Filesystem", "Deny", "PATH", true, NULL, set_file, FILE_DENY, "--deny" },
	{ "Filesystem", "PrivateTmp", "yes|no", false, NULL, set_private_tmp, 0, "--private-tmp" },
	{ "Filesystem", "Cache", "private|none|DIR", false, NULL, set_cache, 0,
	  "--cache; private: one that is gone at the end" },
	{ "Filesystem", "WorkingDirectory", "new|DIR", false, NULL, set_workdir, 0, "--workdir" },

	{ "Network", "Mode", "none|allow|host", false, NULL, set_mode, 0, "--net" },
	{ "Network", "Allow", "HOST|CIDR[:PORT[-PORT]][/udp]", true, NULL, set_allow, 0,
	  "--allow-net" },
	{ "Network", "Bind", "PORT", true, NULL, set_bind, 0, "--allow-bind" },
	{ "Network", "Unix", "PATH|@NAME", true, NULL, set_unix, 0, "--allow-unix" },

	{ "Environment", "Set", "NAME=VALUE", true, NULL, set_env, 0, "--env" },
	{ "Environment", "Pass", "GLOB", true, NULL, set_pass, 0,
	  "--pass-env; a full name is passed even if it looks like a secret" },

	{ "Process", "User", "USER[:GROUP]", false, NULL, set_user, 0, "--user" },
	{ "Process", "Seccomp", "WORD", false, NO_SECCOMP, NULL, 0, "a filter of system calls" },
	{ "Process", "Owner", "PID|none", false, NULL, set_owner, 0, "--owner" },
};
const size_t profile_key_count = sizeof(profile_keys) / sizeof(profile_keys[0]);
