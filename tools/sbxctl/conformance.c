/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conformance: breaches every promise on this host and says which held.
 *
 * Breach first: the act is done inside a run that forbids it. Then the control: the same act in a run that does
 * not. A breach fails on any host; an act that the control cannot do either was no evidence (cannot_attempt).
 * Nothing is left out on request, and what was not begun is not counted as held.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "base/clock.h"
#include "base/own.h"
#include "conform.h"
#include "kern/kern.h"
#include "print.h"
#include "usage.h"

#define RUN_MS 15000	 /* one run, its own deadline of 5 s included */
#define RUN_DEADLINE "5" /* of rows that have none of their own */
#define WORDS_MAX 48
#define CALLERS_FD 57 /* as in conform_acts.c */

enum verdict { HELD, BREACHED, CANNOT_ATTEMPT, NOT_ATTEMPTED, VERDICTS };
static const struct {
	const char *name;
	enum print_color color;
} verdicts[VERDICTS] = {
	[HELD] = { "held", PRINT_GOOD },
	[BREACHED] = { "breached", PRINT_BAD },
	[CANNOT_ATTEMPT] = { "cannot_attempt", PRINT_WARN },
	[NOT_ATTEMPTED] = { "not_attempted", PRINT_WARN },
};

struct conformance {
	struct conform_scene scene;
	char exe[512];
	int listener, unix_listener, abstract_listener;
	bool ready;
	unsigned int census[VERDICTS];
	json_t *rows;
	struct table table;
};

/* ---- the scene ------------------------------------------------------------------------------ */

static int put_file(const struct conformance *c, const char *name)
{
	char path[160];
	own_fd fd = -1;

	snprintf(path, sizeof(path), "%s/%s", c->scene.dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, "secret\n", 7) != 7 || fchmod(fd, 0666) < 0)
		return -errno;
	return 0;
}

static int make_directory(const struct conformance *c, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", c->scene.dir, name);
	return mkdir(path, 0777) < 0 || chmod(path, 0777) < 0 ? -errno : 0;
}

/* Whoever the command runs as, the modes of the scene forbid it nothing: the policy has to. */
static int make_files(struct conformance *c)
{
	int rc;

	strcpy(c->scene.dir, "/run/sbx-conformance.XXXXXX");
	if (!mkdtemp(c->scene.dir) || chmod(c->scene.dir, 0777) < 0)
		return -errno;
	rc = make_directory(c, "work");
	if (!rc)
		rc = make_directory(c, "outside");
	if (!rc)
		rc = put_file(c, "secret");
	return rc ? rc : put_file(c, "outside/file");
}

static int make_abstract(struct conformance *c)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int len = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "%.90s", c->scene.dir);

	c->abstract_listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->abstract_listener < 0 ||
	    bind(c->abstract_listener, (struct sockaddr *)&un,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (socklen_t)len) < 0 ||
	    listen(c->abstract_listener, 8) < 0)
		return -errno;
	return 0;
}

static int make_listeners(struct conformance *c)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(in);

	snprintf(un.sun_path, sizeof(un.sun_path), "%.90s/socket", c->scene.dir);
	c->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	c->unix_listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->listener < 0 || c->unix_listener < 0 ||
	    bind(c->listener, (struct sockaddr *)&in, sizeof(in)) < 0 ||
	    getsockname(c->listener, (struct sockaddr *)&in, &len) < 0 ||
	    bind(c->unix_listener, (struct sockaddr *)&un, sizeof(un)) < 0 ||
	    chmod(un.sun_path, 0777) < 0 || listen(c->listener, 8) < 0 ||
	    listen(c->unix_listener, 8) < 0)
		return -errno;
	c->scene.port = ntohs(in.sin_port);
	return make_abstract(c);
}

static int make_others(struct conformance *c)
{
	char *at;

	c->scene.shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
	at = c->scene.shm < 0 ? (char *)-1 : shmat(c->scene.shm, NULL, 0);
	if (at == (char *)-1)
		return -errno;
	memcpy(at, "secret", 7);
	shmdt(at);
	c->scene.outsider = fork();
	if (c->scene.outsider == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		for (;;)
			pause();
	}
	return c->scene.outsider < 0 ? -errno : 0;
}

static int make_scene(struct conformance *c)
{
	ssize_t n = readlink("/proc/self/exe", c->exe, sizeof(c->exe) - 1);
	int rc = n < 0 ? -errno : make_files(c);

	if (!rc)
		rc = make_listeners(c);
	if (!rc)
		rc = make_others(c);
	if (!rc && dup2(c->listener, CALLERS_FD) < 0)
		rc = -errno;
	setenv("SBX_CONFORM_TOKEN", "secret", 1);
	c->ready = !rc;
	return rc;
}

static void remove_scene(struct conformance *c)
{
	static const char *const names[] = { "work/symlink", "work/link",    "work/renamed",
					     "work/grown",   "work/lock",    "work",
					     "outside/made", "outside/file", "outside",
					     "secret",	     "socket",	     "" };
	char path[160];

	if (c->scene.outsider > 0) {
		kill(c->scene.outsider, SIGKILL);
		waitpid(c->scene.outsider, NULL, 0);
	}
	if (c->scene.shm >= 0)
		shmctl(c->scene.shm, IPC_RMID, NULL);
	for (size_t i = 0; c->scene.dir[0] && i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", c->scene.dir, names[i]);
		if (unlink(path) < 0)
			rmdir(path);
	}
	close_fd(&c->listener);
	close_fd(&c->unix_listener);
	close_fd(&c->abstract_listener);
}

/* ---- one run -------------------------------------------------------------------------------- */

struct attempt_words {
	char *argv[WORDS_MAX];
	size_t count;
	char text[1024], numbers[3][16];
};

static void add(struct attempt_words *w, const char *word)
{
	if (w->count < WORDS_MAX - 1)
		w->argv[w->count++] = (char *)word;
}

static void add_run(const struct conformance *c, struct attempt_words *w, const char *options)
{
	char *save;

	if (!strcmp(options, CONFORM_BARE))
		return;
	add(w, c->exe);
	add(w, "run");
	add(w, "-q");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(w->text, sizeof(w->text), options, c->scene.dir);
#pragma GCC diagnostic pop
	for (char *o = strtok_r(w->text, " ", &save); o; o = strtok_r(NULL, " ", &save))
		add(w, o);
	if (!strstr(options, "-t "))
		add(w, "-t"), add(w, RUN_DEADLINE);
	if (!strstr(options, "-p none"))
		add(w, "--ro"), add(w, c->exe);
	add(w, "--");
}

static void make_words(const struct conformance *c, struct attempt_words *w, const char *options,
		       const char *act)
{
	const int numbers[] = { c->scene.outsider, c->scene.port, c->scene.shm };

	*w = (struct attempt_words){ .count = 0 };
	add_run(c, w, options);
	add(w, c->exe);
	add(w, "conformance");
	add(w, "--act");
	add(w, act);
	add(w, c->scene.dir);
	for (size_t i = 0; i < 3; i++) {
		snprintf(w->numbers[i], sizeof(w->numbers[i]), "%d", numbers[i]);
		add(w, w->numbers[i]);
	}
}

struct outcome {
	int status;
	bool begun, breached, refused;
	char text[512]; /* what it said, both streams */
};

static void read_words(int fd, struct outcome *o)
{
	uint64_t end = clock_boot_ns() + RUN_MS * 1000000ull;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t have = 0;
	ssize_t n = 1;

	while (n > 0 && clock_boot_ns() < end && have < sizeof(o->text) - 1)
		if (poll(&p, 1, 100) > 0) {
			n = read(fd, o->text + have, sizeof(o->text) - 1 - have);
			have += n > 0 ? (size_t)n : 0;
		}
	o->text[have] = '\0';
	o->begun = strstr(o->text, CONFORM_BEGUN);
	o->breached = strstr(o->text, CONFORM_BREACHED);
	o->refused = strstr(o->text, CONFORM_REFUSED);
}

/* Whether the act left something that lives, which ends then. */
static bool left_alive(const struct conformance *c)
{
	char path[160];
	own_fd fd = -1;
	bool alive;

	snprintf(path, sizeof(path), "%s/" CONFORM_LOCK, c->scene.dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	alive = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	unlink(path);
	for (int i = 0; alive && i < 40 && flock(fd, LOCK_EX | LOCK_NB) < 0; i++)
		poll(NULL, 0, 50);
	return alive;
}

static void try_run(const struct conformance *c, const char *options, const char *act,
		    struct outcome *o)
{
	struct attempt_words w;
	char work[112];
	int pair[2];
	pid_t pid;

	*o = (struct outcome){ .status = -1 };
	make_words(c, &w, options, act);
	snprintf(work, sizeof(work), "%s/work", c->scene.dir);
	if (pipe2(pair, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		if (chdir(work) < 0 || dup2(pair[1], 1) < 0 || dup2(pair[1], 2) < 0)
			_exit(125);
		execv(c->exe, w.argv);
		_exit(125);
	}
	close(pair[1]);
	if (pid > 0) {
		read_words(pair[0], o);
		/* It has ended, but for one that hangs: its tree goes with it. */
		kill(pid, SIGTERM);
		waitpid(pid, &o->status, 0);
		o->breached = o->breached || left_alive(c);
	}
	close(pair[0]);
}

/* ---- verdicts ------------------------------------------------------------------------------- */

static bool was_stopped(const struct outcome *o)
{
	return WIFEXITED(o->status) &&
	       (WEXITSTATUS(o->status) == 124 || WEXITSTATUS(o->status) == 137);
}

static void first_line(const struct outcome *o, char *detail, size_t size)
{
	const char *said = strstr(o->text, CONFORM_REFUSED);
	size_t len;

	said = said ? said + strlen(CONFORM_REFUSED " ") : o->text;
	len = strcspn(said, "\n");
	snprintf(detail, size, "%.*s", (int)(len < size ? len : size - 1), said);
}

static enum verdict judge(const struct conformance *c, const struct conform_row *row, char *detail,
			  size_t size)
{
	struct outcome o, control;

	detail[0] = '\0';
	if (!c->ready)
		return NOT_ATTEMPTED;
	try_run(c, row->options, row->act, &o);
	first_line(&o, detail, size);
	if (o.breached)
		return BREACHED;
	if (!o.begun)
		return NOT_ATTEMPTED;
	if (strstr(o.text, CONFORM_REFUSED " ") && !strcmp(detail, strerror(ENOTSUP)))
		return CANNOT_ATTEMPT;
	if (!o.refused && !was_stopped(&o))
		return CANNOT_ATTEMPT;
	if (!o.refused)
		snprintf(detail, size, "ended with status %d", WEXITSTATUS(o.status));
	try_run(c, row->control, row->act, &control);
	if (control.breached)
		return HELD;
	first_line(&control, detail, size);
	memmove(detail + 9, detail, size - 9);
	memcpy(detail, "control: ", 9);
	detail[size - 1] = '\0';
	return CANNOT_ATTEMPT;
}

static void run_row(struct conformance *c, const struct conform_row *row)
{
	char detail[160];
	enum verdict v = judge(c, row, detail, sizeof(detail));

	c->census[v]++;
	json_array_append_new(c->rows,
			      json_pack("{s:i, s:s, s:s, s:s, s:s}", "contract", row->contract,
					"group", row->group, "name", row->name, "verdict",
					verdicts[v].name, "detail", detail));
	table_cell(&c->table, PRINT_PLAIN, "%d", row->contract);
	table_cell(&c->table, PRINT_PLAIN, "%s", row->group);
	table_cell(&c->table, verdicts[v].color, "%s", verdicts[v].name);
	table_cell(&c->table, PRINT_PLAIN, "%s", row->name);
	table_cell(&c->table, PRINT_DIM, "%s", detail);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static const char *tier_here(void)
{
	struct err err = { 0 };
	struct kern *k;
	const char *tier;

	if (kern_open(&k, &err))
		return "none";
	tier = kern_facts(k)->lsm ? "A" : "B";
	kern_close(k);
	return tier;
}

/* Who is told to end takes the scene away first: what is left of the rows is not attempted. */
static volatile sig_atomic_t told_to_end;

static void on_end(int sig)
{
	told_to_end = sig;
}

static void run_rows(struct conformance *c, const char *group)
{
	for (size_t i = 0; i < conform_row_count; i++) {
		if (group && strcmp(conform_rows[i].group, group) != 0)
			continue;
		print_progress("%zu/%zu %s", i + 1, conform_row_count, conform_rows[i].name);
		c->ready = c->ready && !told_to_end;
		run_row(c, &conform_rows[i]);
	}
	print_progress(NULL);
}

static bool is_group(const char *group)
{
	for (size_t i = 0; i < conform_row_count; i++)
		if (!strcmp(conform_rows[i].group, group))
			return true;
	return false;
}

static int report(struct conformance *c, const char *tier, bool as_json, bool color)
{
	unsigned int ran = c->census[HELD] + c->census[BREACHED];
	json_t *all;
	int rc;

	if (as_json) {
		all = json_pack("{s:s, s:O, s:{s:i, s:i, s:i, s:i, s:i}}", "tier", tier, "rows",
				c->rows, "census", "held", c->census[HELD], "breached",
				c->census[BREACHED], "cannot_attempt", c->census[CANNOT_ATTEMPT],
				"not_attempted", c->census[NOT_ATTEMPTED], "ran", ran);
		rc = all ? print_json(stdout, all, true) : -1;
		json_decref(all);
	} else {
		rc = table_print(&c->table, stdout, color);
		printf("\ntier %s: %u held, %u breached, %u cannot be attempted here, %u not "
		       "attempted\n",
		       tier, c->census[HELD], c->census[BREACHED], c->census[CANNOT_ATTEMPT],
		       c->census[NOT_ATTEMPTED]);
	}
	return rc || c->census[BREACHED] || c->census[NOT_ATTEMPTED] || !ran ? 1 : 0;
}

int cmd_conformance(int argc, char **argv)
{
	static const char *const heads[] = { "CONTRACT", "GROUP", "VERDICT", "TRIED", "DETAIL" };
	struct conformance c = {
		.listener = -1, .unix_listener = -1, .abstract_listener = -1, .scene.shm = -1
	};
	struct err err = { 0 };
	const char *tier;
	struct args a;
	bool color;
	int rc;

	if (argc > 1 && !strcmp(argv[1], "--act"))
		return conform_act(argc - 2, argv + 2);
	rc = args_parse(&a, argc, argv, 0, 0);
	if (!rc && args_given(&a, "--group") && !is_group(args_value(&a, "--group")))
		rc = usage_refuse(argv[0], "--group: files, network, isolation, enforcement, "
					   "identity, limits or kill");
	if (!rc && print_color_when(args_value(&a, "--color"), stdout, &color, &err))
		rc = usage_refuse_err(argv[0], &err);
	if (rc)
		return rc;
	table_init(&c.table, heads, sizeof(heads) / sizeof(*heads));
	c.rows = json_array();
	signal(SIGINT, on_end);
	signal(SIGTERM, on_end);
	tier = tier_here(); /* loads the kernel half, which no row has to wait for then */
	rc = make_scene(&c);
	if (rc)
		fprintf(stderr, "sbxctl conformance: prepare '%s': %s\n", c.scene.dir,
			strerror(-rc));
	run_rows(&c, args_value(&a, "--group"));
	remove_scene(&c);
	rc = report(&c, tier, args_given(&a, "--json"), color);
	table_done(&c.table);
	json_decref(c.rows);
	return rc;
}
