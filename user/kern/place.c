/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define LINKS_MAX 40

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool place_missing(int error)
{
	return error == ENOENT || error == ENOTDIR;
}

static int give(struct paths_place *out, const char *path, enum file_reach reach, bool directory,
		struct err *err)
{
	out->path = strdup(path);
	out->reach = reach;
	out->directory = directory;
	return out->path ? 0 : err_set(err, -ENOMEM, "resolve a path");
}

static int give_absent(struct paths_place *out, const char *path, struct err *err)
{
	char clean[PATH_MAX];

	text_path("/", path, clean, sizeof(clean)); /* no longer than `path` */
	return give(out, clean, FILE_ABSENT, false, err);
}

bool place_join(char path[PATH_MAX], const char *dir, const char *name)
{
	char whole[2 * PATH_MAX];
	int len = snprintf(whole, sizeof(whole), "%s/%s", strcmp(dir, "/") ? dir : "", name);

	if (len < 0 || len >= PATH_MAX)
		return false;
	memcpy(path, whole, (size_t)len + 1);
	return true;
}

/* `path` leads nowhere: an entry of its parent, or a link to something that may come. 1: look again. */
static int look_at_parent(char path[PATH_MAX], struct paths_place *out, struct err *err)
{
	char parent[PATH_MAX], real[PATH_MAX], entry[PATH_MAX], target[PATH_MAX];
	char *slash = strrchr(path, '/');
	const char *name = slash + 1;
	ssize_t len;

	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = '\0';
	if (!strcmp(name, ".") || !strcmp(name, "..") ||
	    !realpath(slash == path ? "/" : parent, real) || !is_directory(real))
		return give_absent(out, path, err);
	if (!place_join(entry, real, name))
		return err_set(err, -ENAMETOOLONG, "resolve '%.200s'", path);
	len = readlink(entry, target, sizeof(target) - 1);
	if (len < 0)
		return give(out, entry, FILE_ENTRY, false, err);
	target[len] = '\0';
	if (!place_join(path, target[0] == '/' ? "/" : real, target + (target[0] == '/')))
		return err_set(err, -ENAMETOOLONG, "resolve '%.200s'", path);
	return 1;
}

/* The canonical name of the directory `len` bytes of `path` name; "": there is none. Returns false when it
 * cannot be told. */
static bool remember(struct place_memory *m, const char *path, size_t len)
{
	if (strlen(m->text) == len && !memcmp(m->text, path, len))
		return true;
	memcpy(m->text, path, len);
	m->text[len] = '\0';
	if (realpath(m->text, m->real))
		return true;
	*m->real = '\0';
	if (!place_missing(errno))
		*m->text = '\0';
	return *m->text;
}

/* One look for what most paths are. 1: it takes more. */
static int look(struct place_memory *m, char path[PATH_MAX], struct paths_place *out,
		struct err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash + 1;
	char entry[PATH_MAX];
	struct stat st;

	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") ||
	    !remember(m, path, slash == path ? 1 : (size_t)(slash - path)))
		return 1;
	if (!*m->real)
		return give_absent(out, path, err);
	if (!place_join(entry, m->real, name))
		return 1;
	if (lstat(entry, &st) < 0)
		return errno == ENOENT ? give(out, entry, FILE_ENTRY, false, err) : 1;
	if (S_ISLNK(st.st_mode))
		return 1;
	return give(out, entry, FILE_OBJECT, S_ISDIR(st.st_mode), err);
}

int place_find(struct place_memory *memory, const char *text, struct paths_place *out,
	       struct err *err)
{
	char path[PATH_MAX], real[PATH_MAX];
	int r = 1;

	*out = (struct paths_place){ 0 };
	if (!place_join(path, "/", text + strspn(text, "/")))
		return err_set(err, -ENAMETOOLONG, "resolve '%.200s'", text);
	for (int links = 0; r == 1; links++) {
		size_t len = strlen(path);

		while (len > 1 && path[len - 1] == '/')
			path[--len] = '\0';
		r = look(memory, path, out, err);
		if (r <= 0)
			return r;
		if (realpath(path, real))
			return give(out, real, FILE_OBJECT, is_directory(real), err);
		if (!place_missing(errno) || links == LINKS_MAX)
			return err_set(err, place_missing(errno) ? -ELOOP : -errno,
				       "resolve '%.200s'", text);
		r = look_at_parent(path, out, err);
	}
	return r;
}
