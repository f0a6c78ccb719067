/* SPDX-License-Identifier: Apache-2.0 */
/* profile: lists, shows and checks profiles, and explains what a file policy says about a path. Makes nothing. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/paths.h"
#include "kern/user.h"
#include "policy/explain.h"
#include "policy/option.h"
#include "policy/profile_builtin.h"
#include "print.h"
#include "profile_learn.h"
#include "profile_load.h"
#include "usage.h"

/* ---- list ------------------------------------------------------------------------------------------ */

static bool is_file(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return *dir && profile_chain_name_valid(name) && stat(path, &st) == 0 &&
	       S_ISREG(st.st_mode);
}

static void list_directory(struct table *t, const char *dir, const struct profile_dirs *dirs)
{
	bool home = dir == dirs->path[1];
	own_dir d = *dir ? opendir(dir) : NULL;
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		const char *name = entry->d_name;
		bool hidden = home && (is_file(dirs->path[0], name) || profile_builtin_find(name));

		if (!is_file(dir, name))
			continue;
		table_cell(t, hidden ? PRINT_DIM : PRINT_PLAIN, "%s", name);
		table_cell(t, PRINT_PLAIN, "%s", dir);
		table_cell(t, PRINT_PLAIN, hidden ? "not used: the name is taken above" : "");
	}
}

static int list(int argc, char **argv)
{
	static const char *const heads[] = { "NAME", "FROM", "WHAT" };
	struct profile_dirs dirs;
	struct table t;
	bool color;
	int rc;

	(void)argv;
	if (argc > 1)
		return usage_refuse("profile", "list takes no argument");
	profile_load_dirs(&dirs);
	print_color_when(NULL, stdout, &color, NULL);
	table_init(&t, heads, sizeof(heads) / sizeof(*heads));
	list_directory(&t, dirs.path[0], &dirs);
	for (size_t i = 0; i < profile_builtin_count; i++) {
		const struct profile_builtin *p = &profile_builtins[i];
		bool hidden = is_file(dirs.path[0], p->name);

		table_cell(&t, hidden ? PRINT_DIM : PRINT_PLAIN, "%s", p->name);
		table_cell(&t, PRINT_PLAIN, "built in");
		table_cell(&t, PRINT_PLAIN, "%s",
			   hidden ? "not used: the name is taken above" : p->help);
	}
	list_directory(&t, dirs.path[1], &dirs);
	rc = table_print(&t, stdout, color);
	table_done(&t);
	return rc ? 1 : 0;
}

/* ---- show, check ----------------------------------------------------------------------------------- */

static int show(int argc, char **argv)
{
	own_str text = NULL;
	own_str source = NULL;
	struct err err = { 0 };
	size_t len = 0;

	if (argc != 2)
		return usage_refuse("profile", "usage: sbxctl profile show NAME|FILE");
	if (profile_load_text(argv[1], &text, &len, &source, &err) < 0)
		return print_err("profile", &err);
	return fwrite(text, 1, len, stdout) == len ? 0 : 1;
}

/* With a command line that has said nothing, so that nothing of the profile is passed over. */
static int check(int argc, char **argv)
{
	struct profile_chain chain;
	struct err err = { 0 };
	struct spec spec;
	int rc;

	if (argc != 2)
		return usage_refuse("profile", "usage: sbxctl profile check NAME|FILE");
	spec_init(&spec);
	rc = profile_load_chain(&chain, argv[1], &err);
	if (rc == 0) {
		rc = profile_chain_apply(&chain, profile_load_memory(), &spec, &err);
		profile_chain_done(&chain);
	}
	spec_done(&spec);
	return rc ? print_err("profile", &err) : 0;
}

/* ---- explain --------------------------------------------------------------------------------------- */

static int parse(struct spec *spec, int argc, char **argv, const char **path, struct err *err)
{
	unsigned int groups = 1U << GROUP_FILES | 1U << GROUP_IDENTITY | 1U << GROUP_POLICY;
	int used = 0, rc = option_parse(spec, groups, argc - 1, argv + 1, &used, err);

	if (rc < 0)
		return rc;
	if (argc - 1 - used != 1)
		return err_say(
			err, ERR_VALIDATION, -EINVAL,
			"usage: sbxctl profile explain [-p NAME|FILE] [FILE OPTION...] PATH");
	if (spec->mount_count || spec->shell || spec->audit || spec->allow_reduced_count ||
	    spec->keep_groups)
		return err_say(err, ERR_VALIDATION, -EINVAL,
			       "explain takes file options but --mount, -u and -p");
	*path = argv[1 + used];
	return profile_load(spec, err);
}

static void line(const char *name, const char *text)
{
	printf("%-10s", name);
	print_text(stdout, text);
	putchar('\n');
}

static void print_explanation(const struct file_policy *policy, const char *asked,
			      const struct paths_place *place, const char *note)
{
	own_mem struct explanation *e = malloc(sizeof(*e));

	if (!e)
		return;
	explain_path(policy, place->path, e);
	line("path", asked);
	if (strcmp(asked, place->path) != 0)
		line("leads to", place->path);
	if (place->reach != FILE_OBJECT)
		line("", "(does not exist)");
	line("rights", files_rights_text(e->rule->rights));
	line("rule", e->said);
	line("from", e->from);
	line("tier A", e->tier_a);
	line("tier B", e->tier_b);
	if (*note)
		line("note", note);
}

static int explain(int argc, char **argv)
{
	char directory[PATH_MAX], note[256];
	struct paths_context context = { .directory = directory };
	struct file_policy policy = { 0 };
	struct paths_place place = { 0 };
	struct err err = { 0 };
	const char *path = NULL;
	struct user user;
	struct spec spec;
	int rc;

	spec_init(&spec);
	rc = parse(&spec, argc, argv, &path, &err);
	if (rc == 0)
		rc = profile_load_context(&spec, &user, directory, &err);
	context.home = user.home;
	if (rc == 0)
		rc = paths_resolve(spec.files, spec.file_count, &context, &policy, note, &err);
	if (rc == 0)
		rc = paths_locate(&context, path, &place, &err);
	if (rc == 0)
		print_explanation(&policy, path, &place, note);
	free(place.path);
	file_policy_done(&policy);
	spec_done(&spec);
	if (rc == 0)
		return 0;
	return path ? print_err("profile", &err) : usage_refuse_err("profile", &err);
}

int cmd_profile(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} verbs[] = {
		{ "list", list },	{ "show", show },	    { "check", check },
		{ "explain", explain }, { "learn", profile_learn },
	};

	if (argc < 2)
		return usage_refuse(argv[0], "say list, show, check, explain or learn");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 1, argv + 1);
	return usage_refuse(argv[0], "%s: not one of list, show, check, explain, learn", argv[1]);
}
