/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "policy/secret.h"
#include "policy/spec.h"

#define KILL_AFTER_DEFAULT_NS 2000000000ULL
#define SPILL_AT_DEFAULT (4ULL << 20)
#define PREVIEW_DEFAULT (64ULL << 10)

void spec_init(struct spec *spec)
{
	*spec = (struct spec){
		.kill_after_ns = KILL_AFTER_DEFAULT_NS,
		.stop_signal = SIGTERM,
		.spill_at_bytes = SPILL_AT_DEFAULT,
		.preview_bytes = PREVIEW_DEFAULT,
		.keep_spill = true,
	};
}

static void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

static void free_pairs(struct spec_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(pairs[i].name);
		free(pairs[i].value);
	}
	free(pairs);
}

void spec_done(struct spec *spec)
{
	char *texts[] = { spec->shell,	      spec->preset,  spec->user,  spec->group,
			  spec->stdin_file,   spec->result,  spec->name,  spec->cgroup_parent,
			  spec->profile,      spec->workdir, spec->chdir, spec->cache,
			  spec->attach_cgroup };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	free_texts(spec->argv, spec->argc);
	free_texts(spec->pass_env, spec->pass_env_count);
	free_texts(spec->allow_reduced, spec->allow_reduced_count);
	free_pairs(spec->env, spec->env_count);
	free_pairs(spec->labels, spec->label_count);
	spec_files_done(spec);
	net_policy_done(&spec->net);
	memset(spec, 0, sizeof(*spec));
}

bool spec_name_valid(const char *name, size_t max)
{
	size_t len = strlen(name);

	if (!len || len > max || !text_valid(name, len))
		return false;
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		if (*p < 0x20 || *p == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0))
			return false;
	return true;
}

int spec_set_command(struct spec *spec, int argc, char *const *argv, struct err *err)
{
	size_t bytes = 0;

	if (argc > SPEC_ARGS_MAX)
		return err_say(err, ERR_VALIDATION, -E2BIG,
			       "the command has %d arguments; at most %d are taken", argc,
			       SPEC_ARGS_MAX);
	for (int i = 0; i < argc; i++)
		bytes += strlen(argv[i]) + 1;
	if (bytes > SPEC_ARGS_BYTES)
		return err_say(err, ERR_VALIDATION, -E2BIG,
			       "the command's arguments are %zu bytes; at most %d are taken, pass "
			       "the rest on stdin",
			       bytes, SPEC_ARGS_BYTES);

	spec->argv = calloc((size_t)argc + 1, sizeof(*spec->argv));
	if (!spec->argv)
		return err_set(err, -ENOMEM, "take the command");
	for (; spec->argc < (size_t)argc; spec->argc++) {
		spec->argv[spec->argc] = strdup(argv[spec->argc]);
		if (!spec->argv[spec->argc])
			return err_set(err, -ENOMEM, "take the command");
	}
	return 0;
}

bool spec_may_reduce(const struct spec *spec, const char *capability)
{
	for (size_t i = 0; i < spec->allow_reduced_count; i++)
		if (!strcmp(spec->allow_reduced[i], capability))
			return true;
	return false;
}

static int refuse(struct err *err, const char *text)
{
	return err_say(err, ERR_VALIDATION, -EINVAL, "%s", text);
}

static int check_command(const struct spec *spec, struct err *err)
{
	if (spec->shell)
		return 0;
	if (!spec->argc)
		return refuse(err, "no command; write: sbxctl run [options] -- COMMAND [ARG...]");
	if (!spec->argv[0][0])
		return refuse(err, "the command's name is empty");
	return 0;
}

static int check_contradictions(const struct spec *spec, struct err *err)
{
	const struct {
		bool one, other;
		const char *text;
	} rules[] = {
		{ spec->quiet, spec->verbose, "-q and -v contradict each other" },
		{ spec->pty == TRI_ON, spec->json,
		  "--pty and --json contradict each other: a terminal merges stdout and stderr" },
		{ spec->pty == TRI_ON, spec->detach,
		  "--pty and -d contradict each other: a detached run has no terminal to relay" },
		{ spec->pty == TRI_ON, spec->stdin_mode == STDIN_FILE,
		  "--pty and --stdin=FILE contradict each other: the terminal is stdin" },
		{ spec->stdin_mode == STDIN_INHERIT, spec->detach,
		  "-i and -d contradict each other: say --stdin=FILE for a detached run" },
		{ spec->json, spec->detach,
		  "--json and -d contradict each other: `sbxctl inspect ID` prints it later" },
		{ spec->tree, spec->detach,
		  "--tree and -d contradict each other: `sbxctl inspect ID` shows the tree" },
		{ spec->tree, spec->quiet, "--tree and -q contradict each other" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].one && rules[i].other)
			return refuse(err, rules[i].text);
	return 0;
}

/* preview <= spill-at <= max-output: what was said must hold, what was not said shrinks. */
static int check_output(struct spec *spec, struct err *err)
{
	const struct spec_limit *cap = &spec->limits[LIMIT_OUTPUT];
	char small[32], large[32];

	if (limit_in_force(cap) && spec->spill_at_bytes > cap->value) {
		limit_text(LIMIT_OUTPUT, cap->value, small, sizeof(small));
		limit_text(LIMIT_OUTPUT, spec->spill_at_bytes, large, sizeof(large));
		if (spec->spill_at_set)
			return err_say(err, ERR_VALIDATION, -EINVAL,
				       "--spill-at %s is more than --max-output %s, which ends the "
				       "run first",
				       large, small);
		spec->spill_at_bytes = cap->value;
	}
	if (spec->preview_bytes > spec->spill_at_bytes) {
		limit_text(LIMIT_OUTPUT, spec->spill_at_bytes, small, sizeof(small));
		limit_text(LIMIT_OUTPUT, spec->preview_bytes, large, sizeof(large));
		if (spec->preview_set)
			return err_say(err, ERR_VALIDATION, -EINVAL,
				       "--preview %s is more than --spill-at %s, up to which "
				       "output is kept whole",
				       large, small);
		spec->preview_bytes = spec->spill_at_bytes;
	}
	return 0;
}

/* A name without wildcards that is never passed would be an option that does nothing. */
static int check_pass_env(const struct spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->pass_env_count; i++) {
		const char *glob = spec->pass_env[i];

		if (!strpbrk(glob, "*?") && secret_name(glob))
			return err_say(
				err, ERR_VALIDATION, -EINVAL,
				"--pass-env %s: looks like a secret; say -e %s to hand it over",
				glob, glob);
	}
	return 0;
}

/* What no part of this build enforces yet is refused, not dropped. */
static int check_built(const struct spec *spec, struct err *err)
{
	if (spec->audit && !spec->file_count)
		return refuse(err, "--audit: there is no file rule to audit");
	return 0;
}

int spec_check(struct spec *spec, struct err *err)
{
	int r = net_policy_settle(&spec->net, err);

	if (!r)
		r = check_built(spec, err);
	if (!r)
		r = check_command(spec, err);
	if (!r)
		r = check_contradictions(spec, err);
	if (!r)
		r = check_pass_env(spec, err);
	if (!r && spec->preset)
		r = limit_apply_preset(spec->limits, spec->preset, err);
	if (!r)
		r = check_output(spec, err);
	if (r < 0)
		return r;

	if (spec->limits[LIMIT_WALL].origin == ORIGIN_UNSET)
		spec->limits[LIMIT_WALL].origin = ORIGIN_WAIVED;
	if (spec->drop_privileges && spec->pid_ns == TRI_AUTO)
		spec->pid_ns = TRI_ON;
	/* The parent of a detached run is often a shell that is about to end. */
	if (spec->detach && spec->owner_mode == OWNER_PARENT)
		spec->owner_mode = OWNER_NONE;
	return 0;
}
