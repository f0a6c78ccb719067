/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "policy/capability.h"
#include "policy/option_set.h"
#include "policy/profile_chain.h"

#define LABEL_VALUE_MAX 256
#define USER_MAX 256

__attribute__((format(printf, 3, 4))) static int refuse(struct err *err, const char *value,
							const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return err_say(err, ERR_VALIDATION, -EINVAL, "%.80s: %s", value, why);
}

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "take it");
}

static int keep(char **field, const char *value, struct err *err)
{
	free(*field);
	*field = strdup(value);
	return *field ? 0 : no_memory(err);
}

static void *field_of(struct spec *spec, const struct option *option)
{
	return (char *)spec + option->aux;
}

int option_set_limit(struct spec *spec, const struct option *option, const char *value,
		     struct err *err)
{
	return limit_parse(&spec->limits[option->aux], (enum limit_id)option->aux, value, err);
}

int option_grace(const char *value, uint64_t *ns, struct err *err)
{
	struct err why = { 0 };
	int r = 0;

	if (!strcmp(value, "none"))
		*ns = 0;
	else
		r = num_duration(value, ns, &why);
	if (r < 0)
		return err_say(err, ERR_VALIDATION, r, "%s%s", why.text,
			       r == -EDOM ? "; say 'none' to kill at once" : "");
	return 0;
}

int option_set_grace(struct spec *spec, const struct option *option, const char *value,
		     struct err *err)
{
	(void)option;
	spec->kill_after_set = true;
	return option_grace(value, &spec->kill_after_ns, err);
}

int option_set_signal(struct spec *spec, const struct option *option, const char *value,
		      struct err *err)
{
	(void)option;
	return num_signal(value, &spec->stop_signal, err);
}

int option_set_preset(struct spec *spec, const struct option *option, const char *value,
		      struct err *err)
{
	(void)option;
	if (!limit_preset_known(value))
		return refuse(err, value, "not a preset; one of strict, default, relaxed, none");
	return keep(&spec->preset, value, err);
}

int option_set_true(struct spec *spec, const struct option *option, const char *value,
		    struct err *err)
{
	(void)value;
	(void)err;
	*(bool *)field_of(spec, option) = true;
	return 0;
}

int option_set_false(struct spec *spec, const struct option *option, const char *value,
		     struct err *err)
{
	(void)value;
	(void)err;
	*(bool *)field_of(spec, option) = false;
	return 0;
}

int option_set_text(struct spec *spec, const struct option *option, const char *value,
		    struct err *err)
{
	return keep(field_of(spec, option), value, err);
}

/* Index of `value` in a list of words that ends with NULL, or -1 with an error that shows the
 * list. */
static int word(const char *value, const char *const *words, struct err *err)
{
	char list[128] = "";
	size_t len = 0;

	for (int i = 0; words[i]; i++) {
		if (!strcmp(value, words[i]))
			return i;
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					words[i]);
	}
	refuse(err, value, "not one of %s", list);
	return -1;
}

/* "fd:N" -> N; -1 when it is not of that form. */
static int64_t descriptor(const char *value)
{
	uint64_t number;

	if (strncmp(value, "fd:", 3) != 0 || num_u64(value + 3, &number) < 0 || number > INT_MAX)
		return -1;
	return (int64_t)number;
}

/* One more element at the end of a growing list. */
static void *grow(void *list, size_t count, size_t size)
{
	return reallocarray(list, count + 1, size);
}

/* Messages show the name only: a value may be a secret. */
static int check_env_name(const struct spec *spec, const char *name, struct err *err)
{
	if (!spec_name_valid(name, SPEC_ENV_NAME_MAX))
		return refuse(err, name, "not a variable's name");
	if (!strcmp(name, "SBX_ID"))
		return refuse(err, name, "set by sbx itself");
	for (size_t i = 0; i < spec->env_count; i++)
		if (!strcmp(spec->env[i].name, name))
			return refuse(err, name, "given twice");
	if (spec->env_count == SPEC_ENV_MAX)
		return refuse(err, name, "more than %d variables", SPEC_ENV_MAX);
	return 0;
}

/* Appends "NAME=VALUE" (or NAME alone: value NULL), cut at the first '='. */
static int add_pair(struct spec_pair **pairs, size_t *count, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	struct spec_pair *grown = grow(*pairs, *count, sizeof(*grown)), *pair;

	if (!grown)
		return no_memory(err);
	*pairs = grown;
	pair = &grown[*count];
	pair->name = equals ? strndup(text, (size_t)(equals - text)) : strdup(text);
	pair->value = equals ? strdup(equals + 1) : NULL;
	pair->optional = false;
	(*count)++;
	return pair->name && (!equals || pair->value) ? 0 : no_memory(err);
}

static char *before_equals(const char *text)
{
	return strndup(text, strcspn(text, "="));
}

int option_set_env(struct spec *spec, const struct option *option, const char *value,
		   struct err *err)
{
	char *name = before_equals(value);
	int r = name ? check_env_name(spec, name, err) : no_memory(err);

	(void)option;
	free(name);
	return r ? r : add_pair(&spec->env, &spec->env_count, value, err);
}

static int add_text(char ***texts, size_t *count, char *text, struct err *err)
{
	char **grown = text ? grow(*texts, *count, sizeof(*grown)) : NULL;

	if (!grown) {
		free(text);
		return no_memory(err);
	}
	*texts = grown;
	grown[(*count)++] = text;
	return 0;
}

int option_set_pass_env(struct spec *spec, const struct option *option, const char *value,
			struct err *err)
{
	(void)option;
	if (!spec_name_valid(value, SPEC_ENV_NAME_MAX) || strchr(value, '='))
		return refuse(err, value, "not a pattern of variable names");
	if (spec->pass_env_count == SPEC_ENV_MAX)
		return refuse(err, value, "more than %d patterns", SPEC_ENV_MAX);
	return add_text(&spec->pass_env, &spec->pass_env_count, strdup(value), err);
}

int option_set_user(struct spec *spec, const struct option *option, const char *value,
		    struct err *err)
{
	const char *colon = strchr(value, ':');

	(void)option;
	if (!spec_name_valid(value, USER_MAX) || colon == value ||
	    (colon && (!colon[1] || strchr(colon + 1, ':'))))
		return refuse(err, value, "not of the form USER or USER:GROUP");
	spec->user = strndup(value, colon ? (size_t)(colon - value) : strlen(value));
	if (!spec->user)
		return no_memory(err);
	return colon ? keep(&spec->group, colon + 1, err) : 0;
}

int option_set_stdin(struct spec *spec, const struct option *option, const char *value,
		     struct err *err)
{
	(void)option;
	spec->stdin_mode = !value || !strcmp(value, "inherit") ? STDIN_INHERIT : STDIN_FILE;
	return spec->stdin_mode == STDIN_FILE ? keep(&spec->stdin_file, value, err) : 0;
}

int option_set_pty(struct spec *spec, const struct option *option, const char *value,
		   struct err *err)
{
	(void)value;
	if (spec->pty != TRI_AUTO)
		return err_say(err, ERR_VALIDATION, -EINVAL, "contradicts %s",
			       spec->pty == TRI_ON ? "--pty" : "--no-pty");
	spec->pty = (enum tristate)option->aux;
	return 0;
}

int option_set_color(struct spec *spec, const struct option *option, const char *value,
		     struct err *err)
{
	static const char *const words[] = {
		[TRI_AUTO] = "auto", [TRI_ON] = "always", [TRI_OFF] = "never", NULL
	};
	int at = word(value, words, err);

	(void)option;
	if (at < 0)
		return -EINVAL;
	spec->color = (enum tristate)at;
	return 0;
}

int option_set_spill_at(struct spec *spec, const struct option *option, const char *value,
			struct err *err)
{
	(void)option;
	spec->spill_at_set = true;
	return num_size(value, &spec->spill_at_bytes, err);
}

int option_set_preview(struct spec *spec, const struct option *option, const char *value,
		       struct err *err)
{
	(void)option;
	spec->preview_set = true;
	return num_size(value, &spec->preview_bytes, err);
}

int option_set_result(struct spec *spec, const struct option *option, const char *value,
		      struct err *err)
{
	(void)option;
	if (!strncmp(value, "fd:", 3) && descriptor(value) < 0)
		return refuse(err, value, "not a descriptor; write fd:3, or ./%s for a file",
			      value);
	return keep(&spec->result, value, err);
}

int option_set_owner(struct spec *spec, const struct option *option, const char *value,
		     struct err *err)
{
	uint64_t pid;

	(void)option;
	spec->owner_arg = descriptor(value);
	if (spec->owner_arg >= 0) {
		spec->owner_mode = OWNER_FD;
		return 0;
	}
	if (!strcmp(value, "none")) {
		spec->owner_mode = OWNER_NONE;
		return 0;
	}
	if (num_u64(value, &pid) < 0 || !pid || pid > INT_MAX)
		return refuse(err, value, "not a process; write its pid, fd:N or none");
	spec->owner_mode = OWNER_PID;
	spec->owner_arg = (int64_t)pid;
	return 0;
}

int option_set_leftovers(struct spec *spec, const struct option *option, const char *value,
			 struct err *err)
{
	static const char *const words[] = { [LEFTOVERS_KILL] = "kill",
					     [LEFTOVERS_WAIT] = "wait",
					     [LEFTOVERS_KEEP] = "keep",
					     NULL };
	int at = word(value, words, err);

	(void)option;
	if (at < 0)
		return -EINVAL;
	spec->leftovers = (enum leftovers)at;
	return 0;
}

int option_set_pid_ns(struct spec *spec, const struct option *option, const char *value,
		      struct err *err)
{
	static const char *const words[] = { "on", "off", NULL };
	int at = word(value, words, err);

	(void)option;
	if (at < 0)
		return -EINVAL;
	spec->pid_ns = at ? TRI_OFF : TRI_ON;
	return 0;
}

int option_set_name(struct spec *spec, const struct option *option, const char *value,
		    struct err *err)
{
	(void)option;
	/* It stands where an ID or a SCOPE/ID may stand, and after options. */
	if (!spec_name_valid(value, SPEC_NAME_MAX) || value[0] == '-' || strpbrk(value, "/ "))
		return refuse(
			err, value,
			"not a name; up to %d bytes of UTF-8 without '/' or space, no '-' first",
			SPEC_NAME_MAX);
	return keep(&spec->name, value, err);
}

int option_set_label(struct spec *spec, const struct option *option, const char *value,
		     struct err *err)
{
	char *name = before_equals(value);
	const char *equals = strchr(value, '=');
	int r = name ? 0 : no_memory(err);

	(void)option;
	if (!r && (!equals || !spec_name_valid(name, SPEC_NAME_MAX) ||
		   (equals[1] && !spec_name_valid(equals + 1, LABEL_VALUE_MAX))))
		r = refuse(err, value,
			   "not a label; write KEY=VALUE in UTF-8, at most %d and %d bytes",
			   SPEC_NAME_MAX, LABEL_VALUE_MAX);
	if (!r && spec->label_count == SPEC_LABELS_MAX)
		r = refuse(err, value, "more than %d labels", SPEC_LABELS_MAX);
	for (size_t i = 0; !r && i < spec->label_count; i++)
		if (!strcmp(spec->labels[i].name, name))
			r = refuse(err, value, "given twice");
	free(name);
	return r ? r : add_pair(&spec->labels, &spec->label_count, value, err);
}

static bool climbs(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/..")); at += 3)
		if (!at[3] || at[3] == '/')
			return true;
	return false;
}

int option_set_cgroup_parent(struct spec *spec, const struct option *option, const char *value,
			     struct err *err)
{
	(void)option;
	if (value[0] != '/' || climbs(value) || !spec_name_valid(value, PATH_MAX - 1))
		return refuse(err, value, "not an absolute path without '..'");
	return keep(&spec->cgroup_parent, value, err);
}

int option_set_profile(struct spec *spec, const struct option *option, const char *value,
		       struct err *err)
{
	(void)option;
	if (!strchr(value, '/') && !profile_chain_name_valid(value))
		return refuse(err, value, "not a profile's name; write ./%s for a file", value);
	return keep(&spec->profile, value, err);
}

int option_set_allow_reduced(struct spec *spec, const struct option *option, const char *value,
			     struct err *err)
{
	size_t len;
	int r = 0;

	(void)option;
	for (const char *at = value; !r; at += len + 1) {
		char *name;

		len = strcspn(at, ",");
		name = strndup(at, len);
		if (name && capability_find(name) < 0)
			r = refuse(err, name, "not a capability; `sbxctl doctor` lists them");
		else if (spec->allow_reduced_count == CAP__COUNT)
			r = refuse(err, value, "more than there are");
		if (r)
			free(name);
		else
			r = add_text(&spec->allow_reduced, &spec->allow_reduced_count, name, err);
		if (!at[len])
			break;
	}
	return r;
}

int option_set_workdir(struct spec *spec, const struct option *option, const char *value,
		       struct err *err)
{
	(void)option;
	spec->workdir_mode = strcmp(value, "new") ? WORKDIR_EXISTING : WORKDIR_NEW;
	return spec->workdir_mode == WORKDIR_EXISTING ? keep(&spec->workdir, value, err) : 0;
}
