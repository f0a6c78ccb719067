/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "policy/spec.h"

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "take it");
}

/* "**" stands before a name only, and ~ for one home only. NULL: fine. */
static const char *check_path(const char *path)
{
	const char *stars = strstr(path, "**");

	if (!*path || strlen(path) > SPEC_PATH_MAX)
		return "not a path";
	if (stars && (stars != path || path[2] != '/' || !path[3] || strpbrk(path + 3, "/*?[\\")))
		return "'**' stands only for any depth before one name: **/NAME";
	if (path[0] == '~' && path[1] && path[1] != '/')
		return "'~' stands only for the home of the user that the command runs as";
	return NULL;
}

int spec_add_file(struct spec *spec, enum file_verb verb, const char *text, const char *origin,
		  unsigned int level, struct err *err)
{
	bool optional = text[0] == '-';
	const char *path = text + optional, *why = check_path(path);
	struct file_wish *grown;

	if (why)
		return err_say(err, ERR_VALIDATION, -EINVAL, "%.80s: %s", text, why);
	if (spec->file_count == SPEC_FILES_MAX)
		return err_say(err, ERR_VALIDATION, -E2BIG, "%.80s: more than %d paths", text,
			       SPEC_FILES_MAX);
	grown = reallocarray(spec->files, spec->file_count + 1, sizeof(*grown));
	if (!grown)
		return no_memory(err);

	spec->files = grown;
	grown += spec->file_count++;
	*grown = (struct file_wish){
		.verb = verb,
		.path = strdup(path),
		.optional = optional,
		.origin = strdup(origin),
		.level = level,
	};
	return grown->path && grown->origin ? 0 : no_memory(err);
}

static bool climbs(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/..")); at += 3)
		if (!at[3] || at[3] == '/')
			return true;
	return false;
}

/* "SRC:DST" behind which ":ro" was cut. */
static const char *check_mount(const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || !colon[1] || strchr(colon + 1, ':'))
		return "not of the form SRC:DST or SRC:DST:ro, without ':' in the paths";
	if (colon[1] != '/' || climbs(colon + 1) || !colon[1 + strspn(colon + 1, "/")])
		return "DST is not an absolute path without '..' below '/'";
	if (strlen(text) > SPEC_PATH_MAX)
		return "too long for a path";
	return NULL;
}

static int add_mount(struct spec *spec, const char *text, bool read_only, const char *origin,
		     struct err *err)
{
	const char *colon = strchr(text, ':');
	struct spec_mount *grown =
		reallocarray(spec->mounts, spec->mount_count + 1, sizeof(*grown));
	struct spec_mount *mount;

	if (!grown)
		return no_memory(err);
	spec->mounts = grown;
	mount = &grown[spec->mount_count++];
	mount->source = strndup(text, (size_t)(colon - text));
	mount->target = strdup(colon + 1);
	mount->origin = strdup(origin);
	mount->read_only = read_only;
	return mount->source && mount->target && mount->origin ? 0 : no_memory(err);
}

int spec_add_mount(struct spec *spec, const char *text, const char *origin, struct err *err)
{
	size_t len = strlen(text);
	bool read_only = len > 3 && !strcmp(text + len - 3, ":ro");
	own_str cut = strndup(text, read_only ? len - 3 : len);
	const char *why;

	if (!cut)
		return no_memory(err);
	why = check_mount(cut);
	for (size_t i = 0; !why && i < spec->mount_count; i++)
		if (!strcmp(spec->mounts[i].target, strchr(cut, ':') + 1))
			why = "something is mounted there already";
	if (!why && spec->mount_count == SPEC_MOUNTS_MAX)
		why = "more mounts than there may be";
	if (why)
		return err_say(err, ERR_VALIDATION, -EINVAL, "%.80s: %s", text, why);
	return add_mount(spec, cut, read_only, origin, err);
}

void spec_files_done(struct spec *spec)
{
	for (size_t i = 0; i < spec->file_count; i++)
		file_wish_done(&spec->files[i]);
	free(spec->files);
	for (size_t i = 0; i < spec->mount_count; i++) {
		free(spec->mounts[i].source);
		free(spec->mounts[i].target);
		free(spec->mounts[i].origin);
	}
	free(spec->mounts);
}
