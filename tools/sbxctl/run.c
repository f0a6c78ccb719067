/* SPDX-License-Identifier: Apache-2.0 */
/* sbxctl run: one owned run in the foreground; its keeper is this process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/own.h"
#include "kern/kern.h"
#include "policy/option.h"
#include "policy/option_set.h"
#include "run/run.h"
#include "serve/registry.h"
#include "serve/server.h"
#include "background.h"
#include "commands.h"
#include "profile_load.h"
#include "report.h"

struct keeper {
	struct spec spec;
	struct loop loop;
	struct run *run;
	struct server *server;
	struct background background;
	int name_lock;
	const struct result *result;
};

static void on_output(void *arg, int number, const char *bytes, size_t len)
{
	struct keeper *k = arg;

	(void)number, (void)bytes, (void)len;
	server_output(k->server);
}

static void on_process(void *arg, const struct sbx_event *event)
{
	server_process(((struct keeper *)arg)->server, event);
}

static void on_denied(void *arg, const struct denied_item *item)
{
	server_denied(((struct keeper *)arg)->server, item);
}

static void on_root_exited(void *arg, int status)
{
	struct keeper *k = arg;

	if (k->spec.leftovers != LEFTOVERS_KEEP)
		return;
	background_tell(&k->background, status);
	run_background(k->run);
}

static void on_started(void *arg)
{
	struct keeper *k = arg;

	report_started(&k->spec, run_result(k->run));
}

static void on_ended(void *arg, const struct result *result)
{
	struct keeper *k = arg;

	k->result = result;
	server_ended(k->server, result);
	k->loop.stop = true;
}

/* Data that waits on a stdin nobody asked to pass on is a frequent surprise; say it once. */
static void note_stdin(const struct spec *spec)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	int waiting = 0;

	if (spec->stdin_mode != STDIN_NULL || spec->quiet || isatty(0) || !isatty(2))
		return;
	if (poll(&p, 1, 0) == 1 && ioctl(0, FIONREAD, &waiting) == 0 && waiting > 0)
		fprintf(stderr, "sbxctl: note: stdin is not passed to the command; -i passes it\n");
}

static int keep(struct keeper *k, pid_t parent, struct err *err)
{
	const struct run_watch watch = {
		.arg = k,
		.started = on_started,
		.output = on_output,
		.process = on_process,
		.denied = on_denied,
		.root_exited = on_root_exited,
		.ended = on_ended,
	};
	int rc = loop_init(&k->loop, err);

	if (rc == 0)
		rc = run_new(&k->run, &k->spec, &k->loop, &watch, parent, err);
	if (rc == 0)
		rc = run_start(k->run, err);
	registry_claimed(&k->name_lock);
	if (rc < 0)
		return rc;
	/* Without a socket the run is still supervised; only ps, stop and the like cannot reach it. */
	if (server_open(&k->server, k->run, &k->loop, NULL) < 0)
		k->server = NULL;
	background_started(&k->background, run_id(k->run));
	rc = loop_run(&k->loop, err);
	server_close(k->server);
	return rc;
}

/* Dies of the signal that ended the run, so that shells, make and xargs see an interrupt as one. */
static void die_of(int sig)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* In the write that SIGALRM interrupted, and after it: ucontext holds the mask that is restored. */
static void give_signals_back(int sig, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)sig, (void)info;
	for (const int *s = (const int[]){ SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0 }; *s; s++)
		sigdelset(&interrupted->uc_sigmask, *s);
}

/* A signal that comes while the result is written must not lose it; one that comes while nobody reads the result is the
 * only way out. */
static void report_may_block(bool yes)
{
	const struct sigaction action = { .sa_sigaction = give_signals_back,
					  .sa_flags = SA_SIGINFO | SA_RESTART };
	const struct itimerval patience = { .it_value = { .tv_sec = yes } };
	sigset_t alarm;

	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &patience, NULL);
}

static int finish(struct keeper *k, int rc, const struct err *err)
{
	int status, sig = 0;

	report_may_block(true);
	if (k->result) {
		status = result_exit_status(k->result);
		if ((report_result(&k->spec, k->result) < 0 || k->result->output_lost) &&
		    status == 0)
			status = 1; /* as the command itself would have ended */
		sig = run_death_signal(k->run);
	} else {
		status = 125;
		if (err->category == ERR_COULD_NOT_RUN)
			status = rc == -ENOENT ? 127 : 126;
		report_failure(&k->spec, k->run ? run_result(k->run) : NULL, err);
	}
	report_may_block(false);
	background_ended(&k->background, status);
	run_free(k->run);
	spec_done(&k->spec);
	loop_done(&k->loop);
	if (sig)
		die_of(sig);
	return status;
}

/* Whoever wants the record wants it of a refusal, too, and may ask for it behind the fault. What
 * follows "--" is the command's; without one nobody can tell where that begins. */
static void late_result(struct spec *spec, int argc, char **argv)
{
	int end = 1;

	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	for (int i = 1; end < argc && i < end; i++) {
		const char *value = NULL;

		if (!strncmp(argv[i], "--result=", 9))
			value = argv[i] + 9;
		else if (!strcmp(argv[i], "--result") && i + 1 < end)
			value = argv[i + 1];
		if (value && !spec->result)
			option_set_result(spec, NULL, value, NULL);
		spec->json |= !strcmp(argv[i], "--json");
	}
}

static int parse(struct spec *spec, int argc, char **argv, struct err *err)
{
	int used = 0, rc = option_parse(spec, ~0U, argc - 1, argv + 1, &used, err);

	if (rc < 0)
		late_result(spec, argc, argv);
	if (rc == 0)
		rc = spec_set_command(spec, argc - 1 - used, argv + 1 + used, err);
	if (rc == 0)
		rc = profile_load(spec, err);
	return rc < 0 ? rc : spec_check(spec, err);
}

int cmd_run(int argc, char **argv)
{
	struct keeper k = { .loop = { .epoll_fd = -1, .timer_fd = -1 },
			    .background = BACKGROUND_NONE,
			    .name_lock = -1 };
	struct err err = { 0 };
	pid_t parent = getppid();
	int rc, status;

	json_object_seed((size_t)kern_id_new()); /* else jansson opens /dev/urandom */
	prctl(PR_SET_DUMPABLE, 0);
	spec_init(&k.spec);
	rc = parse(&k.spec, argc, argv, &err);
	if (rc == 0) {
		rc = report_check(&k.spec, &err);
		if (rc < 0)
			free(take_ptr(&k.spec.result)); /* nor can the refusal be written there */
	}
	if (rc == 0 && k.spec.leftovers == LEFTOVERS_KEEP && k.spec.json)
		rc = err_say(&err, ERR_VALIDATION, -EINVAL,
			     "--json needs the end of the run, --leftovers keep does not wait for "
			     "it: use --result FILE");
	if (rc == 0 && k.spec.name)
		rc = registry_claim(k.spec.name, &k.name_lock, &err);
	if (rc == 0)
		note_stdin(&k.spec);
	if (rc == 0 && (k.spec.detach || k.spec.leftovers == LEFTOVERS_KEEP)) {
		rc = background_fork(&k.background, k.spec.detach, &status, &err);
		if (rc > 0) { /* the front; the keeper goes on behind it */
			spec_done(&k.spec);
			return status;
		}
	}
	if (rc == 0)
		rc = keep(&k, parent, &err);
	return finish(&k, rc, &err);
}
