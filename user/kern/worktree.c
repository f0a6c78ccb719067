/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/own.h"
#include "kern/worktree.h"

#define MODULES_DEPTH 6
#define NESTING_MAX 8	 /* submodules in submodules */
#define ENTRIES_MAX 4096 /* looked at in one directory */
#define CONFIG_MAX (64 << 10)

/* A git directory, and the one with what worktrees share: the same but for linked worktrees. */
struct repository {
	char git[PATH_MAX], common[PATH_MAX];
};

struct search {
	worktree_path_fn *fn;
	void *arg;
};

static bool join(char out[PATH_MAX], const char *dir, const char *name)
{
	int len = snprintf(out, PATH_MAX, "%s/%s", strcmp(dir, "/") ? dir : "", name);

	return len > 0 && len < PATH_MAX;
}

/* The type bits of what is there, no link followed; 0 when nothing is. */
static mode_t kind(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return join(path, dir, name) && lstat(path, &st) == 0 ? st.st_mode & S_IFMT : 0;
}

static bool is_git_directory(const char *dir)
{
	return kind(dir, "HEAD") && kind(dir, "objects") && kind(dir, "refs");
}

/* Cuts the last component; false at the root. */
static bool cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* The path in a file such as `.git` or `gitdir`, behind `prefix`, relative to `dir`; canonical. */
static bool read_link_file(const char *dir, const char *name, const char *prefix,
			   char out[PATH_MAX])
{
	char path[PATH_MAX], text[PATH_MAX], target[PATH_MAX];
	size_t skip = strlen(prefix);

	if (!join(path, dir, name) || kind(dir, name) != S_IFREG ||
	    io_read_file(AT_FDCWD, path, text, sizeof(text)) < 0 ||
	    strncmp(text, prefix, skip) != 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (text[skip] == '/')
		return realpath(text + skip, out);
	return join(target, dir, text + skip) && realpath(target, out);
}

/* A linked worktree's git directory is COMMON/worktrees/NAME and holds the way back. */
static bool is_linked(const char *tree, struct repository *repo)
{
	char back[PATH_MAX], own[PATH_MAX], parent[PATH_MAX];

	strcpy(parent, repo->git);
	if (!cut(parent) || strcmp(strrchr(parent, '/'), "/worktrees") != 0)
		return false;
	strcpy(repo->common, parent);
	return cut(repo->common) && is_git_directory(repo->common) &&
	       read_link_file(repo->git, "gitdir", "", back) && join(own, tree, ".git") &&
	       !strcmp(back, own);
}

/* The value of core.worktree leads back to the submodule's tree. */
static bool config_names(const char *git, const char *tree)
{
	char path[PATH_MAX], target[PATH_MAX], real[PATH_MAX];
	own_str text = malloc(CONFIG_MAX);
	char *at, *rest;

	if (!text || !join(path, git, "config") ||
	    io_read_file(AT_FDCWD, path, text, CONFIG_MAX) < 0)
		return false;
	rest = text;
	while ((at = strsep(&rest, "\n"))) {
		at += strspn(at, " \t");
		if (strncmp(at, "worktree = ", 11) != 0)
			continue;
		if (at[11] != '/' && !join(target, git, at + 11))
			return false;
		return realpath(at[11] == '/' ? at + 11 : target, real) && !strcmp(real, tree);
	}
	return false;
}

static bool locate(const char *directory, int nesting, struct repository *repo);

/* A submodule's git directory is in `modules` of the repository around it, and its configuration names the
 * tree. */
static bool is_submodule(const char *tree, int nesting, struct repository *repo)
{
	struct repository around;
	char above[PATH_MAX], modules[PATH_MAX];
	size_t len;

	strcpy(above, tree);
	if (nesting == NESTING_MAX || !cut(above) || !locate(above, nesting + 1, &around))
		return false;
	strcpy(repo->common, repo->git);
	if (!join(modules, around.git, "modules/"))
		return false;
	len = strlen(modules);
	return !strncmp(repo->git, modules, len) && is_git_directory(repo->git) &&
	       config_names(repo->git, tree);
}

/* The repository whose work tree is `tree` itself. */
static bool open_tree_of(const char *tree, int nesting, struct repository *repo)
{
	switch (kind(tree, ".git")) {
	case S_IFDIR:
		if (!join(repo->git, tree, ".git") || !is_git_directory(repo->git))
			return false;
		strcpy(repo->common, repo->git);
		return true;
	case S_IFREG:
		return read_link_file(tree, ".git", "gitdir: ", repo->git) &&
		       (is_linked(tree, repo) || is_submodule(tree, nesting, repo));
	default: /* a link is not believed */
		return false;
	}
}

/* As git does: the nearest directory upwards that has a .git decides. */
static bool locate(const char *directory, int nesting, struct repository *repo)
{
	char at[PATH_MAX];

	if (strlen(directory) >= sizeof(at))
		return false;
	strcpy(at, directory);
	do {
		if (kind(at, ".git"))
			return open_tree_of(at, nesting, repo);
	} while (cut(at));
	return false;
}

static int tell(const struct search *s, const char *dir, const char *name)
{
	char path[PATH_MAX];

	return join(path, dir, name) ? s->fn(s->arg, path, false) : 0;
}

/* `commondir` would make git take configuration and hooks from elsewhere. */
static int protect(const struct search *s, const char *git)
{
	static const char *const names[] = { "hooks", "config", "config.worktree", "commondir" };
	int r = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !r; i++)
		r = tell(s, git, names[i]);
	return r;
}

typedef int each_fn(const struct search *s, const char *path, int depth);

/* Calls fn for each directory in `dir`. */
static int each_directory(const struct search *s, const char *dir, int depth, each_fn *fn)
{
	own_dir d = opendir(dir);
	struct dirent *entry;
	int r = 0;

	for (int seen = 0; d && !r && seen < ENTRIES_MAX && (entry = readdir(d)); seen++) {
		char path[PATH_MAX];

		if (entry->d_name[0] == '.' && strspn(entry->d_name, ".") < 3 &&
		    !entry->d_name[strspn(entry->d_name, ".")])
			continue;
		if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
		    kind(dir, entry->d_name) != S_IFDIR || !join(path, dir, entry->d_name))
			continue;
		r = fn(s, path, depth);
	}
	return r;
}

/* A submodule's name may have slashes: below `modules`, any directory may be one or lead to some. */
static int protect_module(const struct search *s, const char *path, int depth)
{
	char modules[PATH_MAX];
	int r;

	if (depth == MODULES_DEPTH)
		return 0;
	if (!is_git_directory(path))
		return each_directory(s, path, depth + 1, protect_module);
	r = protect(s, path);
	if (!r && join(modules, path, "modules"))
		r = each_directory(s, modules, depth + 1, protect_module);
	return r;
}

static int protect_worktree(const struct search *s, const char *path, int depth)
{
	int r = tell(s, path, "config.worktree");

	(void)depth;
	return r ? r : tell(s, path, "commondir");
}

static int protect_all(const struct search *s, const char *common)
{
	char path[PATH_MAX];
	int r = protect(s, common);

	if (!r && join(path, common, "modules"))
		r = each_directory(s, path, 0, protect_module);
	if (!r && join(path, common, "worktrees"))
		r = each_directory(s, path, 0, protect_worktree);
	return r;
}

static int protect_child(const struct search *s, const char *path, int depth)
{
	struct repository repo;

	(void)depth;
	return kind(path, ".git") && open_tree_of(path, 0, &repo) ? protect_all(s, repo.common) : 0;
}

int worktree_each(const char *directory, worktree_path_fn *fn, void *arg)
{
	const struct search s = { fn, arg };
	struct repository repo;
	int r = 0;

	if (locate(directory, 0, &repo)) {
		r = fn(arg, repo.common, true);
		if (!r && strcmp(repo.git, repo.common) != 0)
			r = fn(arg, repo.git, true);
		if (!r)
			r = protect_all(&s, repo.common);
	} else if (is_git_directory(directory)) {
		r = protect_all(&s, directory);
	} else {
		/* What `git init` would make: held as far as the tier can. */
		r = tell(&s, directory, ".git/hooks");
		if (!r)
			r = tell(&s, directory, ".git/config");
	}
	return r ? r : each_directory(&s, directory, 0, protect_child);
}
