/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "policy/learn.h"
#include "run/run.h"

static const char no_rules[] = "\n[Filesystem]\nRead=\nWrite=\nNoExec=\nDeny=\nWrite=/ -%h\n";

/* ---- the run ------------------------------------------------------------------------------------------ */

struct words {
	char **word;
	size_t count;
};

static void add(struct words *w, const char *word)
{
	w->word[w->count++] = (char *)word;
}

static void add_all(struct words *w, char *const *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(w, from[i]);
}

static void in_child(const struct watch *w, char *const *argv, int result)
{
	fcntl(result, F_SETFD, 0);
	if (w->to_stderr)
		dup2(2, 1);
	execv("/proc/self/exe", argv);
	_exit(125);
}

/* An interrupt ends the run; what was seen until then is still told. */
static int run(const struct watch *w, char *const *argv, int result, struct err *err)
{
	static const int held[] = { SIGINT, SIGQUIT };
	struct sigaction before[2], ignore = { .sa_handler = SIG_IGN };
	int status = 0;
	pid_t pid, got;

	for (int i = 0; i < 2; i++)
		sigaction(held[i], &ignore, &before[i]);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 2; i++)
			sigaction(held[i], &before[i], NULL);
		in_child(w, argv, result);
	}
	do
		got = pid < 0 ? -1 : waitpid(pid, &status, 0);
	while (got < 0 && pid > 0 && errno == EINTR);
	if (got < 0)
		err_set(err, -errno, "run the command");
	for (int i = 0; i < 2; i++)
		sigaction(held[i], &before[i], NULL);
	if (got < 0)
		return err->code;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* `profile`: what -p names; `before`: words that go before the command. *record is new, NULL when the command did
 * not run. Returns the exit status. */
static int run_recorded(const struct watch *w, const char *profile, bool audit, char *const *before,
			size_t before_count, json_t **record, struct err *err)
{
	struct words words = {
		calloc(w->option_count + before_count + w->spec->argc + 16, sizeof(char *)), 0
	};
	own_mem void *owned = words.word;
	own_fd result = memfd_create("result", MFD_CLOEXEC);
	char number[24];
	int status;

	*record = NULL;
	if (!words.word || result < 0)
		return err_set(err, words.word ? -errno : -ENOMEM, "run the command");
	snprintf(number, sizeof(number), "fd:%d", result);
	add_all(&words,
		(char *[]){ (char *)"sbxctl", (char *)"run", (char *)"-p", (char *)profile,
			    (char *)"--result", number },
		6);
	if (audit)
		add(&words, "--audit");
	add_all(&words, w->options, w->option_count);
	add(&words, "--");
	add_all(&words, before, before_count);
	add_all(&words, w->spec->argv, w->spec->argc);
	status = run(w, words.word, result, err);
	if (status < 0)
		return status;
	lseek(result, 0, SEEK_SET);
	*record = json_loadfd(result, 0, NULL);
	return status;
}

static bool has_run(const json_t *record)
{
	const char *outcome = json_string_value(json_object_get(record, "outcome"));

	return outcome && strcmp(outcome, "could_not_run") != 0;
}

/* ---- audit -------------------------------------------------------------------------------------------- */

static struct trace_act act_of(const json_t *item)
{
	static const struct {
		const char *name;
		unsigned int right;
		bool entry;
	} acts[] = {
		{ "read", FILE_READ, false },	 { "receive", FILE_READ, false },
		{ "execute", FILE_EXEC, false }, { "create", FILE_WRITE, true },
		{ "remove", FILE_WRITE, true },	 { "rename", FILE_WRITE, true },
		{ "link", FILE_WRITE, true },
	};
	const char *name = json_string_value(json_object_get(item, "act"));
	struct trace_act act = { .right = FILE_WRITE,
				 .path = json_string_value(json_object_get(item, "object")) };

	for (size_t i = 0; name && i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(acts[i].name, name)) {
			act.right = acts[i].right;
			act.entry = acts[i].entry;
		}
	return act;
}

/* Names that the kernel half had no room for are "?". */
static bool is_known(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/?")); at += 2)
		if (at[2] == '/' || !at[2])
			return false;
	return path[0] == '/';
}

static int tell_denials(const struct watch *w, const json_t *record, struct watched *out)
{
	const json_t *denials = json_object_get(record, "denials");
	json_t *item;
	size_t i;
	int rc = 0;

	out->unknown = (size_t)json_integer_value(json_object_get(denials, "dropped"));
	json_array_foreach(json_object_get(denials, "items"), i, item) {
		struct trace_act act = act_of(item);

		if (!act.path || !is_known(act.path))
			out->unknown++;
		else if (!rc)
			rc = w->tell(w->arg, &act);
	}
	return rc;
}

static int audited(const struct watch *w, struct watched *out, struct err *err)
{
	json_t *record;
	int rc;

	out->by = "the kernel half";
	out->status = run_recorded(w, w->spec->profile, true, NULL, 0, &record, err);
	if (out->status < 0)
		return out->status;
	rc = has_run(record) ? tell_denials(w, record, out) : 1;
	json_decref(record);
	return rc;
}

/* ---- strace ------------------------------------------------------------------------------------------- */

static bool find_strace(char path[PATH_MAX])
{
	const char *env = getenv("PATH");
	own_str dirs = NULL;
	char *save = NULL;

	if (asprintf(&dirs, "%s:/usr/bin:/bin", env ? env : "") < 0)
		return false;
	for (char *dir = strtok_r(dirs, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
		snprintf(path, PATH_MAX, "%s/strace", dir);
		if (dir[0] == '/' && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* What was named below a private /tmp stays visible there only while something names it. */
static int add_visible(const struct file_policy *policy, struct buf *text)
{
	for (size_t i = 0; i < policy->count; i++) {
		const struct file_rule *r = &policy->rules[i];
		struct buf word = { 0 };
		int rc = 0;

		if (r->reach == FILE_OBJECT && r->rights && !learn_word(r->path, &word))
			rc = buf_printf(text, "Write=-%s\n", word.data);
		buf_done(&word);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The base without its rules. A '-' goes before quotes as well. */
static int write_profile(const struct watch *w, const char *path, struct err *err)
{
	own_file file = fopen(path, "wxe");
	struct buf text = { 0 };
	int rc = buf_printf(&text, "Extends=%s%s", w->spec->profile, no_rules);

	if (!rc)
		rc = add_visible(w->policy, &text);
	if (!rc && (!file || fwrite(text.data, 1, text.len, file) != text.len || fflush(file)))
		rc = -errno;
	buf_done(&text);
	return rc ? err_set(err, rc, "write '%s'", path) : 0;
}

/* The user whom the command runs as writes it. */
static int make_trace(const struct watch *w, const char *path, struct err *err)
{
	own_fd fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || (w->user->name[0] && fchown(fd, w->user->uid, w->user->gid) < 0))
		return err_set(err, -errno, "write '%s'", path);
	return 0;
}

static int read_lines(struct trace *t, FILE *file, int (*one)(struct trace *t, char *line),
		      size_t *lines)
{
	own_str line = NULL;
	size_t room = 0;
	ssize_t len;
	int rc = 0;

	rewind(file);
	for (*lines = 0; !rc && (len = getline(&line, &room, file)) > 0; ++*lines) {
		line[len - (line[len - 1] == '\n')] = '\0';
		rc = one(t, line);
	}
	return rc;
}

static int tell_trace(const struct watch *w, const char *path, struct watched *out, struct err *err)
{
	struct trace *t = trace_new(w->directory, w->tell, w->arg);
	own_file file = fopen(path, "re");
	size_t lines = 0;
	int rc = !t ? -ENOMEM : !file ? -errno : read_lines(t, file, trace_forks, &lines);

	if (!rc && !lines)
		rc = err_say(err, ERR_UNSUPPORTED, -ENODATA, "strace saw nothing of the command");
	if (!rc)
		rc = read_lines(t, file, trace_line, &lines);
	if (t)
		out->unknown = trace_lost(t);
	trace_free(t);
	if (rc < 0 && !err->code)
		err_set(err, rc, "read what strace wrote");
	return rc;
}

static int traced_in(const struct watch *w, const char *strace, const char *dir,
		     struct watched *out, struct err *err)
{
	char profile[PATH_MAX], trace[PATH_MAX], filter[TRACE_FILTER_MAX];
	char *before[] = { (char *)strace,
			   (char *)"-f",
			   (char *)"-q",
			   (char *)"-y",
			   (char *)"-e",
			   filter,
			   (char *)"-e",
			   (char *)"signal=none",
			   (char *)"-o",
			   trace,
			   (char *)"--seccomp-bpf",
			   (char *)"--" };
	json_t *record;
	int rc;

	snprintf(profile, sizeof(profile), "%s/%s", dir, w->spec->profile);
	snprintf(trace, sizeof(trace), "%s/trace", dir);
	trace_filter(filter);
	out->by = "strace";
	rc = write_profile(w, profile, err);
	if (!rc)
		rc = make_trace(w, trace, err);
	if (!rc) {
		out->status = run_recorded(w, profile, false, before,
					   sizeof(before) / sizeof(before[0]), &record, err);
		rc = out->status < 0   ? out->status
		     : has_run(record) ? tell_trace(w, trace, out, err)
				       : 1;
		if (out->status >= 0)
			json_decref(record);
	}
	unlink(profile);
	unlink(trace);
	return rc;
}

static int traced(const struct watch *w, struct watched *out, struct err *err)
{
	char strace[PATH_MAX], dir[] = "/run/sbx-learn.XXXXXX";
	int rc;

	if (!find_strace(strace))
		return err_say(err, ERR_UNSUPPORTED, -EOPNOTSUPP,
			       "without BPF LSM a command is watched by strace(1), which is not "
			       "installed");
	if (!mkdtemp(dir))
		return err_set(err, -errno, "make '%s'", dir);
	rc = chmod(dir, 0711) < 0 ? err_set(err, -errno, "make '%s'", dir)
				  : traced_in(w, strace, dir, out, err);
	rmdir(dir);
	return rc;
}

int profile_watch(const struct watch *w, struct watched *out, struct err *err)
{
	struct spec audit = *w->spec;
	struct result plan;
	int rc;

	*out = (struct watched){ 0 };
	audit.audit = true;
	result_init(&plan);
	plan.spec = &audit;
	rc = run_plan(&audit, &plan, err);
	result_done(&plan);
	if (rc == 0)
		return audited(w, out, err);
	if (err->category != ERR_CANNOT_ENFORCE ||
	    strcmp(err->capability, "filesystem_confinement") != 0)
		return rc;
	*err = (struct err){ 0 };
	return traced(w, out, err);
}
