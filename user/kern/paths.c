/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/own.h"
#include "kern/paths.h"
#include "kern/place.h"
#include "kern/worktree.h"

#define PATTERN_DEPTH 128 /* components of a pattern: match() recurses */
#define SPECIAL "*?[\\"

/* What is in a directory, each name behind its NUL. */
struct listing {
	char dir[PATH_MAX]; /* "": of none */
	struct buf names;
};

/* One policy being resolved. */
struct resolve {
	const struct paths_context *context;
	const struct file_wish *wish; /* the current one */
	struct file_policy *out;
	size_t entries; /* directory entries seen */
	struct place_memory memory;
	struct listing last;
	bool guarded; /* the working directory is not one to write in */
	struct err *err;
};

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "resolve a path");
}

/* ---- text ------------------------------------------------------------------------------------------ */

/* So that nothing in it is taken for a pattern. */
static int add_quoted(struct buf *b, const char *text)
{
	int r = 0;

	for (; *text && !r; text++) {
		if (strchr(SPECIAL, *text))
			r = buf_add(b, "\\", 1);
		if (!r)
			r = buf_add(b, text, 1);
	}
	return r;
}

/* Absolute, with the special characters of what was filled in quoted. Specifiers are a profile's. */
static int expand(const struct paths_context *context, const char *text, bool specifiers,
		  struct buf *b)
{
	int r = 0;

	if (text[0] == '~' && (!text[1] || text[1] == '/')) {
		r = add_quoted(b, context->home);
		text++;
	} else if (text[0] != '/' &&
		   !(specifiers && text[0] == '%' && text[1] && strchr("hd", text[1]))) {
		r = add_quoted(b, context->directory);
		if (!r)
			r = buf_add(b, "/", 1);
	}
	for (; *text && !r; text++) {
		char next = specifiers && *text == '%' ? text[1] : '\0';

		if (next == 'h' || next == 'd')
			r = add_quoted(b, next == 'h' ? context->home : context->directory);
		else
			r = buf_add(b, text, 1);
		text += next != '\0';
	}
	return r;
}

/* Whether `len` bytes have a special character that is not quoted. */
static bool has_pattern(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\\' && i + 1 < len)
			i++;
		else if (strchr("*?[", text[i]))
			return true;
	}
	return false;
}

/* In place: "[x]" is an x, for which nothing need be listed. */
static void unwrap(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (*text == '\\' && text[1]) {
			*out++ = *text++;
		} else if (*text == '[' && text[1] && text[2] == ']' && !strchr("!^\\]", text[1])) {
			if (strchr(SPECIAL, text[1]))
				*out++ = '\\';
			*out++ = text[1];
			text += 2;
			continue;
		}
		*out++ = *text;
	}
	*out = '\0';
}

/* In place: quotes before special characters go. */
static void unquote(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (*text == '\\' && text[1] && strchr(SPECIAL, text[1]))
			text++;
		*out++ = *text;
	}
	*out = '\0';
}

/* ---- one path ------------------------------------------------------------------------------------------ */

int paths_locate(const struct paths_context *context, const char *text, struct paths_place *out,
		 struct err *err)
{
	struct place_memory memory = { 0 };
	struct buf b = { 0 };
	int r = expand(context, text, false, &b);

	*out = (struct paths_place){ 0 };
	if (r < 0) {
		err_set(err, r, "resolve a path");
	} else {
		unquote(b.data);
		r = place_find(&memory, b.data, out, err);
	}
	buf_done(&b);
	return r;
}

/* ---- wishes ---------------------------------------------------------------------------------------- */

/* Takes place->path over. */
static int add_rule(struct resolve *r, struct paths_place *place, const char *written,
		    enum file_verb verb, bool pattern, bool optional)
{
	struct file_rule rule = {
		.path = take_ptr(&place->path),
		.written = strdup(written),
		.origin = strdup(r->wish->origin),
		.verb = verb,
		.reach = place->reach,
		.level = r->wish->level,
		.optional = optional,
		.pattern = pattern,
		.directory = place->directory,
	};

	if (rule.path && rule.written && rule.origin)
		return file_policy_add(r->out, &rule, r->err);
	free(rule.path);
	free(rule.written);
	free(rule.origin);
	return no_memory(r->err);
}

static int add_path(struct resolve *r, const char *path, bool pattern)
{
	const struct file_wish *wish = r->wish;
	struct paths_place place;
	int rc = place_find(&r->memory, path, &place, r->err);

	if (!rc && place.reach == FILE_ABSENT && !wish->optional) {
		free(place.path);
		return err_say(
			r->err, ERR_VALIDATION, -ENOENT,
			"%.200s: neither it nor its parent exists; write -%.100s if that is fine",
			wish->path, wish->path);
	}
	return rc ? rc : add_rule(r, &place, wish->path, wish->verb, pattern, wish->optional);
}

/* `base` exists, or there is no match. `rest`: components behind it, at least one. */
static int match(struct resolve *r, const char *base, const char *rest, size_t *found);

static int match_entry(struct resolve *r, const char *base, const char *name, const char *rest,
		       size_t *found)
{
	char path[PATH_MAX];

	if (!place_join(path, base, name))
		return 0; /* nobody can open it by that path, either */
	if (*rest)
		return match(r, path, rest, found);
	++*found;
	return add_path(r, path, true);
}

/* Patterns often look into one directory, one after the other. */
static int list(struct resolve *r, const char *dir)
{
	struct listing *l = &r->last;
	struct dirent *entry;
	own_dir d = NULL;
	int rc = 0;

	if (!strcmp(l->dir, dir))
		return 0;
	*l->dir = '\0';
	l->names.len = 0;
	d = opendir(dir);
	if (!d)
		return place_missing(errno) ? 0 : err_set(r->err, -errno, "list '%.200s'", dir);
	while (!rc && (entry = readdir(d))) {
		if (++r->entries > PATHS_ENTRIES_MAX)
			return err_say(r->err, ERR_VALIDATION, -E2BIG,
				       "patterns would look at more than %d directory entries",
				       PATHS_ENTRIES_MAX);
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			rc = buf_add(&l->names, entry->d_name, strlen(entry->d_name) + 1);
	}
	if (!rc)
		strcpy(l->dir, dir);
	return rc ? no_memory(r->err) : 0;
}

static int match_in(struct resolve *r, const char *base, const char *component, const char *rest,
		    size_t *found)
{
	int rc = list(r, base);
	struct buf names = r->last.names;

	if (*rest) { /* what lies deeper is listed meanwhile */
		*r->last.dir = '\0';
		r->last.names = (struct buf){ .max = names.max };
	}
	for (size_t at = 0; !rc && at < names.len; at += strlen(names.data + at) + 1)
		if (!fnmatch(component, names.data + at, 0))
			rc = match_entry(r, base, names.data + at, rest, found);
	if (*rest)
		buf_done(&names);
	return rc;
}

static int match(struct resolve *r, const char *base, const char *rest, size_t *found)
{
	const char *at = rest + strspn(rest, "/");
	size_t len = strcspn(at, "/");
	own_str component = strndup(at, len);
	const char *behind = at + len + strspn(at + len, "/");
	char path[PATH_MAX];
	struct stat st;

	if (!component)
		return no_memory(r->err);
	unwrap(component);
	if (has_pattern(component, strlen(component)))
		return match_in(r, base, component, behind, found);
	unquote(component);
	if (!place_join(path, base, component) || lstat(path, &st) < 0)
		return 0;
	return match_entry(r, base, component, behind, found);
}

static int add_pattern(struct resolve *r, const char *pattern)
{
	size_t found = 0, depth = 0;
	int rc;

	for (const char *at = pattern; *at; at++)
		depth += *at == '/';
	if (depth > PATTERN_DEPTH)
		return err_say(r->err, ERR_VALIDATION, -E2BIG,
			       "%.200s: more than %d components in a pattern", r->wish->path,
			       PATTERN_DEPTH);
	rc = match(r, "/", pattern, &found);
	if (!rc && !found && !r->wish->optional)
		return err_say(r->err, ERR_VALIDATION, -ENOENT,
			       "%.200s: nothing matches; write -%.100s if that is fine",
			       r->wish->path, r->wish->path);
	return rc;
}

static int add_anywhere(struct resolve *r, const char *name)
{
	struct paths_place place = { .path = strdup(name), .reach = FILE_ANYWHERE };

	if (!place.path)
		return no_memory(r->err);
	return add_rule(r, &place, r->wish->path, r->wish->verb, true, r->wish->optional);
}

/* What git needs is found, not named: a literal path in the same profile wins over it. */
static int add_git(void *arg, const char *path, bool writable)
{
	struct resolve *r = arg;
	struct paths_place place;
	int rc;

	if (writable && r->guarded)
		return 0;
	rc = place_find(&r->memory, path, &place, r->err);
	return rc ? rc : add_rule(r, &place, path, writable ? FILE_RW : FILE_RO, true, true);
}

/* `home` is canonical. */
static bool is_home(const char *directory, const char *home)
{
	size_t len = strlen(directory);

	if (!strcmp(directory, "/") || !strcmp(directory, "/home") || !strcmp(directory, "/root"))
		return true;
	if (!strncmp(directory, "/home/", 6) && !strchr(directory + 6, '/'))
		return true;
	return !strncmp(home, directory, len) && (!home[len] || home[len] == '/');
}

static int add_working_directory(struct resolve *r)
{
	char directory[PATH_MAX], home[PATH_MAX];
	int rc = 0;

	if (!realpath(r->context->directory, directory))
		return err_set(r->err, -errno, "resolve '%.200s'", r->context->directory);
	if (!realpath(r->context->home, home))
		snprintf(home, sizeof(home), "%s", r->context->home);
	r->guarded = is_home(directory, home);
	if (!r->guarded)
		rc = add_path(r, directory, false);
	return rc ? rc : worktree_each(directory, add_git, r);
}

static int add_wish(struct resolve *r)
{
	const struct file_wish *wish = r->wish;
	bool profile = wish->level < FILE_LEVEL_COMMAND_LINE;
	struct buf b = { 0 };
	int rc;

	if (!strncmp(wish->path, "**/", 3))
		return add_anywhere(r, wish->path + 3);
	if (profile && wish->verb == FILE_RW && !strcmp(wish->path, "%d"))
		return add_working_directory(r);

	rc = expand(r->context, wish->path, profile, &b);
	if (rc < 0) {
		err_set(r->err, rc, "resolve '%.200s'", wish->path);
	} else if (has_pattern(b.data, b.len)) {
		rc = add_pattern(r, b.data);
	} else {
		unquote(b.data);
		rc = add_path(r, b.data, false);
	}
	buf_done(&b);
	return rc;
}

static void say_guarded(const struct resolve *r, char note[256])
{
	char directory[PATH_MAX];

	if (r->guarded && realpath(r->context->directory, directory) &&
	    !(files_decide(r->out, directory)->rights & FILE_WRITE))
		snprintf(note, 256,
			 "the working directory %.100s is a home or above one and stays "
			 "read-only; say --rw . to write there",
			 directory);
}

int paths_resolve(const struct file_wish *wishes, size_t count, const struct paths_context *context,
		  struct file_policy *out, char note[256], struct err *err)
{
	struct resolve r = { .context = context, .out = out, .err = err };
	int rc = 0;

	*out = (struct file_policy){ 0 };
	note[0] = '\0';
	r.last.names.max = (size_t)PATHS_ENTRIES_MAX * (NAME_MAX + 1);
	for (size_t i = 0; i < count && !rc; i++) {
		r.wish = &wishes[i];
		rc = add_wish(&r);
		if (rc < 0)
			err_prefix(err, "%s", wishes[i].origin);
	}
	buf_done(&r.last.names);
	if (!rc)
		rc = files_compile(out, err);
	if (rc < 0)
		file_policy_done(out);
	else
		say_guarded(&r, note);
	return rc;
}
