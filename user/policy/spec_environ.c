/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "policy/secret.h"
#include "policy/spec_environ.h"

/* DESIGN 8: what a build or a shell needs and no key hides in. */
const char *const spec_environ_passed[] = {
	"PATH",	    "HOME",    "USER",	    "LOGNAME",	 "SHELL",	    "LANG",
	"LC_*",	    "TERM",    "COLORTERM", "NO_COLOR",	 "FORCE_COLOR",	    "TZ",
	"TMPDIR",   "CI",      "EDITOR",    "PAGER",	 "VIRTUAL_ENV",	    "CC",
	"CXX",	    "CFLAGS",  "LDFLAGS",   "MAKEFLAGS", "PKG_CONFIG_PATH", "GOFLAGS",
	"NODE_ENV", "PYTHON*", "JAVA_HOME",
};

const size_t spec_environ_passed_count =
	sizeof(spec_environ_passed) / sizeof(spec_environ_passed[0]);

const struct spec_environ_cache spec_environ_caches[] = {
	{ "XDG_CACHE_HOME", "" },	   { "GOCACHE", "/go-build" },
	{ "npm_config_cache", "/npm" },	   { "UV_CACHE_DIR", "/uv" },
	{ "GRADLE_USER_HOME", "/gradle" },
};

const size_t spec_environ_cache_count =
	sizeof(spec_environ_caches) / sizeof(spec_environ_caches[0]);

#define PATH_FALLBACK "/usr/local/bin:/usr/bin:/bin"

struct list {
	char **entries; /* room for SPEC_ENV_MAX and the NULL */
	size_t count;
};

static size_t name_length(const char *entry)
{
	return strcspn(entry, "=");
}

static char **find(char *const *entries, const char *name, size_t len)
{
	for (; *entries; entries++)
		if (!strncmp(*entries, name, len) && (*entries)[len] == '=')
			return (char **)entries;
	return NULL;
}

const char *spec_environ_get(char *const *environ_vector, const char *name)
{
	size_t len = strlen(name);
	char **at = find(environ_vector, name, len);

	return at ? *at + len + 1 : NULL;
}

void spec_environ_free(char **environ_vector)
{
	for (char **at = environ_vector; at && *at; at++)
		free(*at);
	free(environ_vector);
}

static int put(struct list *list, const char *name, size_t len, const char *value, struct err *err)
{
	char **at = find(list->entries, name, len);
	size_t value_len = strlen(value);
	char *entry;

	if (!at && list->count == SPEC_ENV_MAX)
		return err_say(err, ERR_VALIDATION, -E2BIG,
			       "the environment has more than %d variables", SPEC_ENV_MAX);
	entry = malloc(len + value_len + 2);
	if (!entry)
		return err_set(err, -ENOMEM, "make the environment");

	memcpy(entry, name, len);
	entry[len] = '=';
	memcpy(entry + len + 1, value, value_len + 1);
	if (at)
		free(*at);
	else
		at = &list->entries[list->count++];
	*at = entry;
	return 0;
}

static bool wanted(const struct spec *spec, const char *name)
{
	for (size_t i = 0; i < spec_environ_passed_count; i++)
		if (text_glob(spec_environ_passed[i], name))
			return true;
	for (size_t i = 0; i < spec->pass_env_count; i++)
		if (text_glob(spec->pass_env[i], name))
			return true;
	return false;
}

static int from_caller(struct list *list, const struct spec *spec, char *const *caller,
		       struct err *err)
{
	int r = 0;

	for (; *caller && !r; caller++) {
		size_t len = name_length(*caller);
		char *name;

		if (!len || !(*caller)[len] || find(list->entries, *caller, len))
			continue;
		name = strndup(*caller, len);
		if (!name)
			return err_set(err, -ENOMEM, "make the environment");
		if (wanted(spec, name) && !secret_name(name) && !secret_value(*caller + len + 1))
			r = put(list, name, len, *caller + len + 1, err);
		free(name);
	}
	return r;
}

static int from_user(struct list *list, const struct spec *spec, const struct spec_user *user,
		     const char *id, struct err *err)
{
	const char *path = spec_environ_get(list->entries, "PATH");
	const struct {
		const char *name, *value;
	} facts[] = {
		{ "HOME", user->home },
		{ "USER", user->name },
		{ "LOGNAME", user->name },
		{ "SHELL", user->shell },
		{ "PATH", spec->pass_path && user->path ? user->path
			  : path			? NULL
							: PATH_FALLBACK },
		/* The caller's own temporary directory is not the private one. */
		{ "TMPDIR", spec->private_tmp ? "/tmp" : NULL },
		{ "SBX_ID", id },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && !r; i++)
		if (facts[i].value)
			r = put(list, facts[i].name, strlen(facts[i].name), facts[i].value, err);
	return r;
}

static int from_cache(struct list *list, const char *cache, struct err *err)
{
	int r = 0;

	for (size_t i = 0; cache && i < spec_environ_cache_count && !r; i++) {
		const struct spec_environ_cache *row = &spec_environ_caches[i];
		size_t size = strlen(cache) + strlen(row->directory) + 1;
		char *path = malloc(size);

		if (!path)
			return err_set(err, -ENOMEM, "make the environment");
		stpcpy(stpcpy(path, cache), row->directory);
		r = put(list, row->name, strlen(row->name), path, err);
		free(path);
	}
	return r;
}

static int from_options(struct list *list, const struct spec *spec, char *const *caller,
			struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < spec->env_count && !r; i++) {
		const char *name = spec->env[i].name;
		const char *value =
			spec->env[i].value ? spec->env[i].value : spec_environ_get(caller, name);

		if (!value && spec->env[i].optional)
			continue;
		if (!value)
			return err_say(err, ERR_VALIDATION, -EINVAL,
				       "-e %s: not set in the caller's environment", name);
		r = put(list, name, strlen(name), value, err);
	}
	return r;
}

int spec_environ(const struct spec *spec, char *const *caller, const struct spec_user *user,
		 const char *id, char ***out, struct err *err)
{
	struct list list = { .entries = calloc(SPEC_ENV_MAX + 1, sizeof(char *)) };
	int r;

	if (!list.entries)
		return err_set(err, -ENOMEM, "make the environment");

	r = from_caller(&list, spec, caller, err);
	if (!r)
		r = from_user(&list, spec, user, id, err);
	if (!r)
		r = from_cache(&list, user->cache, err);
	if (!r)
		r = from_options(&list, spec, caller, err);
	if (r < 0) {
		spec_environ_free(list.entries);
		return r;
	}
	*out = list.entries;
	return 0;
}
