/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/own.h"
#include "policy/profile_builtin.h"

enum { DIR_SYSTEM, DIR_HOME };

void profile_load_dirs(struct profile_dirs *dirs)
{
	const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
	const char *home = getenv("HOME");
	struct user user;

	if (sudo)
		home = user_lookup(&user, sudo, NULL, NULL) == 0 ? user.home : NULL;
	*dirs = (struct profile_dirs){ .path = { "/etc/sbx/profiles.d" } };
	if (home && home[0] == '/')
		snprintf(dirs->path[DIR_HOME], sizeof(dirs->path[DIR_HOME]),
			 "%s/.config/sbx/profiles", home);
}

/* One byte more than is allowed is read, so that the parser sees the excess. */
static int read_text(const char *path, char **text, size_t *len, struct err *err)
{
	own_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	own_str buf = NULL;
	struct stat st;
	ssize_t got = 1;
	size_t at = 0;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, -errno, "read profile '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_say(err, ERR_VALIDATION, -EINVAL, "profile '%s': not a regular file",
			       path);
	buf = malloc(PROFILE_BYTES_MAX + 1);
	if (!buf)
		return err_set(err, -ENOMEM, "read profile '%s'", path);
	while (at < PROFILE_BYTES_MAX + 1 && got > 0) {
		got = read(fd, buf + at, PROFILE_BYTES_MAX + 1 - at);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			return err_set(err, -errno, "read profile '%s'", path);
		else
			at += (size_t)got;
	}
	*len = at;
	*text = take_ptr(&buf);
	return 0;
}

static int read_in(const char *dir, const char *name, char **text, size_t *len, char **source,
		   struct err *err)
{
	own_str path = NULL;
	int r;

	if (!*dir)
		return -ENOENT;
	if (asprintf(&path, "%s/%s", dir, name) < 0) {
		path = NULL;
		return err_set(err, -ENOMEM, "read profile '%s'", name);
	}
	r = read_text(path, text, len, err);
	if (!r)
		*source = take_ptr(&path);
	return r;
}

static int read_builtin(const char *name, char **text, size_t *len, struct err *err)
{
	const struct profile_builtin *builtin = profile_builtin_find(name);

	if (!builtin)
		return -ENOENT;
	*len = strlen(builtin->text);
	*text = strdup(builtin->text);
	return *text ? 0 : err_set(err, -ENOMEM, "read profile '%s'", name);
}

static int find(void *arg, const char *name, char **text, size_t *len, char **source,
		struct err *err)
{
	const struct profile_dirs *dirs = arg;
	int r = read_in(dirs->path[DIR_SYSTEM], name, text, len, source, err);

	if (r == -ENOENT)
		r = read_builtin(name, text, len, err);
	if (r == -ENOENT)
		r = read_in(dirs->path[DIR_HOME], name, text, len, source, err);
	return r;
}

static int no_file(const char *path, struct err *err)
{
	return err_say(err, ERR_NOT_FOUND, -ENOENT, "profile '%s': no such file", path);
}

int profile_load_text(const char *name, char **text, size_t *len, char **source, struct err *err)
{
	struct profile_dirs dirs;
	int r;

	*text = *source = NULL;
	if (!strchr(name, '/')) {
		profile_load_dirs(&dirs);
		r = find(&dirs, name, text, len, source, err);
		if (r == -ENOENT)
			err_say(err, ERR_NOT_FOUND, r,
				"no profile is called '%.80s'; `sbxctl profile list` lists them",
				name);
		return r;
	}
	r = read_text(name, text, len, err);
	if (r == -ENOENT)
		return no_file(name, err);
	if (!r)
		*source = strdup(name);
	if (!r && !*source) {
		free(take_ptr(text));
		r = err_set(err, -ENOMEM, "read profile '%s'", name);
	}
	return r;
}

/* A file's profile goes by the file's name. */
static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int profile_load_chain(struct profile_chain *chain, const char *name, struct err *err)
{
	own_str text = NULL;
	struct profile_dirs dirs;
	size_t len = 0;
	int r;

	profile_load_dirs(&dirs);
	if (!strchr(name, '/'))
		return profile_chain_read(chain, name, find, &dirs, err);
	chain->count = 0;
	r = read_text(name, &text, &len, err);
	if (r == -ENOENT)
		return no_file(name, err);
	if (r < 0)
		return r;
	return profile_chain_read_text(chain, short_name(name), name, text, len, find, &dirs, err);
}

uint64_t profile_load_memory(void)
{
	struct sysinfo info;

	return sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : 0;
}

int profile_load(struct spec *spec, struct err *err)
{
	struct profile_chain chain;
	int r;

	if (!spec->profile)
		spec->profile = strdup("default");
	if (!spec->profile)
		return err_set(err, -ENOMEM, "profile default");
	r = profile_load_chain(&chain, spec->profile, err);
	if (r < 0)
		return r;
	r = profile_chain_apply(&chain, profile_load_memory(), spec, err);
	profile_chain_done(&chain);
	return r;
}

int profile_load_context(const struct spec *spec, struct user *user, char directory[PATH_MAX],
			 struct err *err)
{
	const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL, *home = getenv("HOME");
	const char *said = spec->chdir ? spec->chdir : spec->workdir;

	if (spec->user || sudo) {
		if (user_lookup(user, spec->user ? spec->user : sudo, NULL, err) < 0)
			return err->code;
	} else {
		snprintf(user->home, sizeof(user->home), "%s", home && home[0] == '/' ? home : "/");
	}
	if (!realpath(said ? said : ".", directory))
		return err_set(err, -errno, "enter '%.200s'", said ? said : ".");
	return 0;
}
