/* SPDX-License-Identifier: Apache-2.0 */
/* sbxctl attach: a tree that runs already gets a keeper, in the background unless asked otherwise. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/own.h"
#include "kern/kern.h"
#include "policy/option.h"
#include "policy/spec_attach.h"
#include "run/attach_group.h"
#include "run/attach_into.h"
#include "run/run.h"
#include "serve/registry.h"
#include "serve/server.h"
#include "background.h"
#include "commands.h"
#include "print.h"
#include "profile_load.h"
#include "target.h"
#include "usage.h"

#define COMMAND_MAX 4096
#define WORDS_MAX 256

struct attaching {
	struct spec spec;
	struct loop loop;
	struct run *run;
	struct server *server;
	struct background background;
	bool foreground;
	const char *cgroup, *into; /* NULL: not said */
	int name_lock;
	const struct result *result;
};

static void on_process(void *arg, const struct sbx_event *event)
{
	server_process(((struct attaching *)arg)->server, event);
}

static void on_denied(void *arg, const struct denied_item *item)
{
	server_denied(((struct attaching *)arg)->server, item);
}

static void on_ended(void *arg, const struct result *result)
{
	struct attaching *a = arg;

	a->result = result;
	server_ended(a->server, result);
	a->loop.stop = true;
}

/* What is now, and what is not: on the terminal as well as on record. */
static void say_attached(const struct attaching *a)
{
	const struct result_attach *r = &run_result(a->run)->attach;

	fprintf(stderr,
		"sbxctl: attached to %llu processes, %llu threads; not taken back: open "
		"descriptors and connections, mappings, memory charged elsewhere, orphans from "
		"before; no Landlock, no no_new_privs (run %s)\n",
		(unsigned long long)r->processes, (unsigned long long)r->threads, run_id(a->run));
	if (run_result(a->run)->note[0])
		fprintf(stderr, "sbxctl: %s\n", run_result(a->run)->note);
}

static int keep(struct attaching *a, pid_t parent, struct err *err)
{
	const struct run_watch watch = {
		.arg = a, .process = on_process, .denied = on_denied, .ended = on_ended
	};
	int rc = loop_init(&a->loop, err);

	if (rc == 0)
		rc = run_new(&a->run, &a->spec, &a->loop, &watch, parent, err);
	if (rc == 0)
		rc = run_start(a->run, err);
	registry_claimed(&a->name_lock);
	if (rc < 0)
		return rc;
	if (server_open(&a->server, a->run, &a->loop, NULL) < 0)
		a->server = NULL;
	if (!a->spec.quiet)
		say_attached(a);
	background_started(&a->background, run_id(a->run));
	rc = loop_run(&a->loop, err);
	server_close(a->server);
	return rc;
}

static int finish(struct attaching *a, int rc, const struct err *err)
{
	int status = rc ? print_err("attach", err) : 0;

	if (a->result)
		status = result_exit_status(a->result);
	if (a->result && a->foreground && a->result->diagnostic[0])
		fprintf(stderr, "sbxctl: %s (run %s)\n", a->result->diagnostic, a->result->id);
	background_ended(&a->background, status);
	run_free(a->run);
	spec_done(&a->spec);
	loop_done(&a->loop);
	return status;
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* One of our own options that has a value, as its next word or behind '='. */
static bool take_value(const char *option, char **argv, int *at, const char **value)
{
	size_t len = strlen(option);

	if (strncmp(argv[*at], option, len) != 0)
		return false;
	if (argv[*at][len] == '=')
		*value = argv[*at] + len + 1;
	else if (!argv[*at][len])
		*value = argv[*at + 1] ? argv[++*at] : "";
	else
		return false;
	return true;
}

/* What these do not know is a run option, or the PID. */
static bool take_own(struct attaching *a, char **argv, int *at)
{
	if (!strcmp(argv[*at], "--foreground"))
		a->foreground = true;
	else if (!strcmp(argv[*at], "--kill-with-keeper"))
		a->spec.kill_with_keeper = true;
	else if (!strcmp(argv[*at], "--session"))
		a->spec.attach_session = true;
	else
		return take_value("--cgroup", argv, at, &a->cgroup) ||
		       take_value("--into", argv, at, &a->into);
	return true;
}

static int set_pid(struct spec *spec, const char *word)
{
	uint64_t pid;

	if (spec->attach)
		return usage_refuse("attach", "unexpected '%s'; one process at a time", word);
	if (num_u64(word, &pid) || pid == 0 || pid > INT32_MAX)
		return usage_refuse("attach", "'%s' is not the number of a process", word);
	spec->attach = (pid_t)pid;
	return 0;
}

/* What is said together with what. */
static int check_own(const struct attaching *a, int others)
{
	if (a->cgroup && !a->cgroup[0])
		return usage_refuse("attach",
				    "--cgroup: the directory of a control group is missing");
	if (a->into && !a->into[0])
		return usage_refuse("attach", "--into: the ID of a run is missing");
	if (a->cgroup && (a->into || a->spec.attach || a->spec.attach_session))
		return usage_refuse("attach", "--cgroup stands for the process; give one of them");
	if (a->into &&
	    (others > 1 || a->foreground || a->spec.kill_with_keeper || a->spec.attach_session))
		return usage_refuse("attach",
				    "--into: the run has its options already; give the PID alone");
	if (!a->spec.attach && !a->cgroup)
		return usage_refuse("attach",
				    "which process? usage: sbxctl attach [OPTION...] PID");
	return 0;
}

static int parse(struct attaching *a, int argc, char **argv)
{
	const unsigned int groups = command_find("attach")->option_groups;
	struct err err = { 0 };
	char *rest[WORDS_MAX];
	int count = 0, used, rc = 0;

	if (argc > WORDS_MAX)
		return usage_refuse("attach", "more than %d arguments", WORDS_MAX);
	for (int i = 1; i < argc; i++)
		if (!take_own(a, argv, &i))
			rest[count++] = argv[i];
	/* Options may stand before and after the PID. */
	for (int at = 0; rc == 0 && at < count; at += used) {
		if (rest[at][0] != '-') {
			rc = set_pid(&a->spec, rest[at]);
			used = 1;
		} else if (option_parse(&a->spec, groups, count - at, rest + at, &used, &err) < 0) {
			rc = usage_refuse_err("attach", &err);
		} else if (at + used < count && rest[at][0] == '-' &&
			   !strcmp(rest[at + used - 1], "--")) {
			rc = usage_refuse("attach", "nothing is started: '--' has no place here");
		}
	}
	return rc ? rc : check_own(a, count);
}

/* What the process was started as, for ps. */
static int take_command(struct spec *spec, struct err *err)
{
	char path[40], text[COMMAND_MAX], *words[WORDS_MAX], unknown[] = "?";
	int count = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)spec->attach);
	n = io_read_file(AT_FDCWD, path, text, sizeof(text));
	for (char *at = text; n > 0 && at < text + n && count < WORDS_MAX; at += strlen(at) + 1)
		words[count++] = at;
	if (!count || !words[0][0])
		words[(count = 1) - 1] = unknown;
	return spec_set_command(spec, count, words, err);
}

static int take_cgroup(struct attaching *a, struct err *err)
{
	a->spec.attach_cgroup = strdup(a->cgroup);
	if (!a->spec.attach_cgroup)
		return err_set(err, -ENOMEM, "--cgroup");
	return attach_group_first(a->cgroup, &a->spec.attach, err);
}

/* --into: the run has a keeper, or had one. */
static int hand_over(const struct attaching *a, struct err *err)
{
	struct kern_adopted adopted;
	struct target t;
	int rc = target_open(&t, a->into, err);

	if (rc)
		return rc;
	rc = attach_into(&t.dir, a->spec.attach, &adopted, err);
	if (rc == 0)
		fprintf(stderr,
			"sbxctl: handed over %u processes, %u threads, which end with run %s; not "
			"taken back: what was before\n",
			adopted.processes, adopted.threads, t.dir.id);
	target_close(&t);
	return rc;
}

static int check(struct attaching *a, struct err *err)
{
	struct spec *spec = &a->spec;
	int rc = a->cgroup ? take_cgroup(a, err) : 0;

	if (rc == 0)
		rc = take_command(spec, err);
	if (rc == 0)
		rc = profile_load(spec, err);
	if (rc == 0)
		rc = spec_check(spec, err);
	return rc < 0 ? rc : spec_check_attach(spec, err);
}

int cmd_attach(int argc, char **argv)
{
	struct attaching a = { .loop = { .epoll_fd = -1, .timer_fd = -1 },
			       .background = BACKGROUND_NONE,
			       .name_lock = -1 };
	struct err err = { 0 };
	pid_t parent = getppid();
	int rc, status;

	json_object_seed((size_t)kern_id_new());
	prctl(PR_SET_DUMPABLE, 0);
	spec_init(&a.spec);
	rc = parse(&a, argc, argv);
	if (rc) {
		spec_done(&a.spec);
		return rc;
	}
	if (a.into) {
		rc = hand_over(&a, &err);
		spec_done(&a.spec);
		return rc ? print_err("attach", &err) : 0;
	}
	rc = check(&a, &err);
	if (rc == 0 && a.spec.name)
		rc = registry_claim(a.spec.name, &a.name_lock, &err);
	if (rc == 0 && !a.foreground) {
		rc = background_fork(&a.background, true, &status, &err);
		if (rc > 0) { /* the front; the keeper goes on behind it */
			spec_done(&a.spec);
			return status;
		}
	}
	if (rc == 0)
		rc = keep(&a, parent, &err);
	return finish(&a, rc, &err);
}
