/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_learn.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/text.h"
#include "kern/paths.h"
#include "policy/learn.h"
#include "policy/option.h"
#include "run/meta.h"
#include "print.h"
#include "profile_load.h"
#include "profile_watch.h"
#include "usage.h"

#define GROUPS                                                                                    \
	(1U << GROUP_LIMITS | 1U << GROUP_FILES | 1U << GROUP_NETWORK | 1U << GROUP_ENVIRONMENT | \
	 1U << GROUP_IDENTITY | 1U << GROUP_IO)

struct learning {
	struct spec spec;
	char **options; /* words for `run` */
	size_t option_count;
	const char *output; /* NULL: stdout */
	bool force, created;
	int fd; /* of the output, -1 */
	struct user user;
	char directory[PATH_MAX], home[PATH_MAX];
	struct file_policy policy;
	struct learn *learn;
	struct timespec began; /* as file systems tell time */
	struct err *err;
};

/* ---- arguments ---------------------------------------------------------------------------------------- */

/* The value of an option of our own at args[*at], which moves to its last word: "-oX", "-o X", "--output=X",
 * "--output X". */
static const char *own_value(const char *name, char *const *args, int count, int *at)
{
	const char *arg = args[*at];
	size_t len = strlen(name);

	if (arg[1] != '-' && arg[1] == name[2])
		return arg[2] ? arg + 2 : *at + 1 < count ? args[++*at] : NULL;
	if (strncmp(arg, name, len) != 0 || (arg[len] && arg[len] != '='))
		return NULL;
	return arg[len] ? arg + len + 1 : *at + 1 < count ? args[++*at] : NULL;
}

/* 1: args[*at] is ours, and taken. */
static int take_own(struct learning *l, char *const *args, int count, int *at)
{
	const char *value;

	if (!strcmp(args[*at], "-f") || !strcmp(args[*at], "--force")) {
		l->force = true;
		return 1;
	}
	value = own_value("--output", args, count, at);
	if (value) {
		l->output = value;
		return 1;
	}
	value = own_value("--profile", args, count, at);
	if (!value)
		return 0;
	free(l->spec.profile);
	l->spec.profile = strdup(value);
	return l->spec.profile ? 1 : err_set(l->err, -ENOMEM, "learn");
}

static bool is_own(const char *arg)
{
	static const char *const names[] = { "--output", "--profile", "--force" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if ((arg[0] == '-' && arg[1] == names[i][2]) ||
		    (!strncmp(arg, names[i], len) && (!arg[len] || arg[len] == '=')))
			return true;
	}
	return false;
}

/* Options of `run` up to the next one of ours; *end is where the command begins, or that one. */
static int take_options(struct learning *l, char **args, int count, int *at, bool *command)
{
	int end = *at, used = 0, rc;

	while (end < count && !is_own(args[end]) && strcmp(args[end], "--") != 0)
		end++;
	rc = option_parse(&l->spec, GROUPS, end - *at, args + *at, &used, l->err);
	for (int i = 0; i < used; i++)
		l->options[l->option_count++] = args[*at + i];
	*command = *at + used < end || end == count || !strcmp(args[end], "--");
	*at += used;
	if (*at < count && *at == end && !strcmp(args[end], "--"))
		++*at;
	return rc;
}

static int check(struct learning *l)
{
	const struct spec *s = &l->spec;

	if (s->file_count || s->mount_count || s->cache || s->private_tmp || s->workdir ||
	    s->workdir_mode != WORKDIR_INHERIT)
		return err_say(l->err, ERR_VALIDATION, -EINVAL,
			       "learn takes no file options but -C: the profile says the rest");
	if (strchr(s->profile, '/'))
		return err_say(l->err, ERR_VALIDATION, -EINVAL,
			       "-p %.200s: what is learnt extends a profile by its name; see "
			       "`sbxctl profile list`",
			       s->profile);
	return 0;
}

static int parse(struct learning *l, int argc, char **argv)
{
	bool command = false;
	int at = 1, rc = 0;

	while (rc >= 0 && at < argc && !command) {
		rc = take_own(l, argv, argc, &at);
		if (rc > 0)
			at++;
		else if (rc == 0)
			rc = take_options(l, argv, argc, &at, &command);
	}
	if (rc >= 0 && !l->spec.profile) {
		l->spec.profile = strdup("default");
		rc = l->spec.profile ? 0 : err_set(l->err, -ENOMEM, "learn");
	}
	if (rc >= 0)
		rc = spec_set_command(&l->spec, argc - at, argv + at, l->err);
	if (rc >= 0)
		rc = check(l);
	if (rc >= 0)
		rc = profile_load(&l->spec, l->err);
	return rc < 0 ? rc : spec_check(&l->spec, l->err);
}

/* ---- what was done ------------------------------------------------------------------------------------ */

/* The directory without links and the name in it. 1: it is gone, with whatever was done in it. */
static int resolve_name(const char *path, char out[PATH_MAX])
{
	char copy[PATH_MAX], *slash;
	size_t len;

	snprintf(copy, sizeof(copy), "%s", path);
	len = strlen(copy);
	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = '\0';
	slash = strrchr(copy, '/');
	if (!slash || !slash[1] || !strcmp(slash + 1, ".") || !strcmp(slash + 1, ".."))
		return !realpath(copy, out);
	*slash = '\0';
	if (!realpath(slash == copy ? "/" : copy, out))
		return 1;
	len = strlen(out);
	if (len == 1)
		len = 0;
	return snprintf(out + len, PATH_MAX - len, "/%s", slash + 1) >= (int)(PATH_MAX - len);
}

/* What a process tells about itself there is its own. */
static bool is_own_proc(const char *path)
{
	const char *name = path + strlen("/proc/");

	return !strncmp(path, "/proc/", strlen("/proc/")) &&
	       (isdigit((unsigned char)*name) || !strncmp(name, "self", 4) ||
		!strncmp(name, "thread-self", 11));
}

/* An open that may create does not need the directory where the file was there before. */
static bool was_there(const struct learning *l, const char *path)
{
	struct statx st;

	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) == 0 &&
	       st.stx_mask & STATX_BTIME &&
	       (st.stx_btime.tv_sec < l->began.tv_sec || (st.stx_btime.tv_sec == l->began.tv_sec &&
							  st.stx_btime.tv_nsec < l->began.tv_nsec));
}

static int on_act(void *arg, const struct trace_act *act)
{
	struct learning *l = arg;
	struct learn_need need = { .right = act->right, .entry = act->entry };
	char path[PATH_MAX];
	struct stat st;

	if (is_own_proc(act->path) ||
	    (act->resolved && !learn_wanted(l->learn, act->path, act->right)))
		return 0;
	if (act->entry || act->resolved ? resolve_name(act->path, path)
					: !realpath(act->path, path))
		return 0;
	need.path = path;
	need.exists = lstat(path, &st) == 0;
	need.directory = need.exists && S_ISDIR(st.st_mode);
	if (act->resolved && was_there(l, path))
		need.entry = false;
	return learn_add(l->learn, &need, l->err);
}

/* ---- from start to end -------------------------------------------------------------------------------- */

static int find_policy(struct learning *l)
{
	char note[256];
	struct paths_context context = { .home = l->user.home, .directory = l->directory };
	int rc = profile_load_context(&l->spec, &l->user, l->directory, l->err);

	if (rc == 0)
		rc = paths_resolve(l->spec.files, l->spec.file_count, &context, &l->policy, note,
				   l->err);
	if (rc == 0 && !realpath(l->user.home, l->home))
		snprintf(l->home, sizeof(l->home), "%s", l->user.home);
	return rc;
}

/* Before the command runs, so that nothing is learnt for nobody. */
static int open_output(struct learning *l)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;

	if (!l->output)
		return 0;
	l->fd = open(l->output, flags | O_CREAT | O_EXCL, 0600);
	l->created = l->fd >= 0;
	if (l->fd < 0 && errno == EEXIST && l->force)
		l->fd = open(l->output, flags);
	if (l->fd < 0 && errno == EEXIST)
		return err_say(l->err, ERR_VALIDATION, -EEXIST, "%.200s exists; -f overwrites it",
			       l->output);
	return l->fd < 0 ? err_set(l->err, -errno, "write '%.200s'", l->output) : 0;
}

static int write_output(const struct learning *l, const struct buf *text)
{
	int fd = l->output ? l->fd : STDOUT_FILENO;

	int rc = l->output && ftruncate(fd, 0) < 0 && errno != EINVAL ? -errno : 0; /* a pipe */

	if (rc == 0)
		rc = io_write_all(fd, text->data, text->len);
	return rc ? err_set(l->err, rc, "write the profile") : 0;
}

static int write_profile(struct learning *l, const struct watched *seen,
			 struct learn_counts *counts)
{
	struct profile parsed;
	struct buf text = { 0 };
	int rc = learn_text(l->learn, seen->by, seen->unknown, &text, counts, l->err);

	if (rc == 0)
		rc = profile_parse(&parsed, "learnt", NULL, text.data, text.len, l->err);
	if (rc == 0) {
		profile_done(&parsed);
		rc = write_output(l, &text);
	}
	buf_done(&text);
	return rc;
}

static int learn(struct learning *l, struct watched *seen, struct learn_counts *counts)
{
	char command[512];
	const struct learn_opts opts = {
		.policy = &l->policy,
		.home = l->home,
		.directory = l->directory,
		.base = l->spec.profile,
		.command = command,
		.private_tmp = l->spec.private_tmp,
	};
	const struct watch watch = {
		.spec = &l->spec,
		.options = l->options,
		.option_count = l->option_count,
		.policy = &l->policy,
		.user = &l->user,
		.directory = l->directory,
		.to_stderr = !l->output,
		.tell = on_act,
		.arg = l,
	};
	size_t dropped;
	json_t *words = meta_argv(&l->spec, &dropped);
	int rc = find_policy(l);

	meta_command(words, command, sizeof(command));
	text_line(command);
	json_decref(words);
	if (rc == 0)
		rc = open_output(l);
	if (rc == 0 && !(l->learn = learn_new(&opts)))
		rc = err_set(l->err, -ENOMEM, "learn");
	clock_gettime(CLOCK_REALTIME_COARSE, &l->began);
	if (rc == 0)
		rc = profile_watch(&watch, seen, l->err);
	return rc ? rc : write_profile(l, seen, counts);
}

static void tell(const struct learning *l, const struct watched *seen,
		 const struct learn_counts *counts)
{
	if (l->spec.quiet)
		return;
	fprintf(stderr, "sbxctl profile: %zu paths beyond %s, learnt as %zu places; %zu refused\n",
		counts->needs - counts->refused, l->spec.profile, counts->places, counts->refused);
	if (seen->status)
		fprintf(stderr,
			"sbxctl profile: the command ended with %d; what it does after that is not "
			"learnt\n",
			seen->status);
}

int profile_learn(int argc, char **argv)
{
	struct learn_counts counts = { 0 };
	struct watched seen = { 0 };
	struct err err = { 0 };
	struct learning l = { .fd = -1, .err = &err };
	bool misuse;
	int rc;

	spec_init(&l.spec);
	l.options = calloc((size_t)argc + 1, sizeof(*l.options));
	rc = l.options ? parse(&l, argc, argv) : err_set(&err, -ENOMEM, "learn");
	misuse = rc < 0;
	if (rc == 0)
		rc = learn(&l, &seen, &counts);
	if (rc == 0)
		tell(&l, &seen, &counts);
	else if (l.created)
		unlink(l.output);
	learn_free(l.learn);
	file_policy_done(&l.policy);
	close_fd(&l.fd);
	free(l.options);
	spec_done(&l.spec);
	if (rc < 0)
		return misuse ? usage_refuse_err("profile", &err) : print_err("profile", &err);
	return rc || seen.status ? 1 : 0;
}
