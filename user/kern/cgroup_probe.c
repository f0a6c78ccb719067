/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/loop.h"
#include "kern/cgroup.h"
#include "kern/cgroup_limits.h"
#include "kern/cgroup_place.h"

#define TRY_MEMORY (64ULL << 20)
#define TRY_PIDS 64
#define TRY_MILLICORES 500
#define FREEZE_BUDGET_NS 1000000000ULL
#define PAUSE_NS 1000000L

__attribute__((format(printf, 2, 3))) static void no(struct cgroup_fact *fact, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fact->why, sizeof(fact->why), fmt, ap);
	va_end(ap);
	fact->ok = false;
}

static int make(struct cgroup **cg, const struct cgroup_limits *limits, struct err *err)
{
	char name[48];
	struct cgroup_opts opts = { .name = name, .limits = *limits };

	snprintf(name, sizeof(name), CGROUP_PREFIX "probe-%d", (int)getpid());
	return cgroup_create(cg, &opts, err);
}

static void drop(struct cgroup *cg)
{
	cgroup_kill(cg);
	cgroup_destroy(cg, NULL);
	cgroup_free(cg);
}

static void try_limit(struct cgroup_fact *fact, const struct cgroup_limits *limits)
{
	struct cgroup *cg = NULL;
	struct err err;

	fact->ok = true;
	if (make(&cg, limits, &err) < 0)
		no(fact, "%.*s", (int)sizeof(fact->why) - 1, err.text);
	else
		drop(cg);
}

static pid_t child_in(const struct cgroup *cg)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)cgroup_clone_fd(cg),
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static bool becomes_frozen(const struct cgroup *cg)
{
	struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t until_ns = clock_boot_ns() + FREEZE_BUDGET_NS;
	char text[256];

	while (clock_boot_ns() < until_ns) {
		if (io_read_file(cgroup_clone_fd(cg), "cgroup.events", text, sizeof(text)) > 0 &&
		    strstr(text, "frozen 1"))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* A child that is born in the group is frozen there, and killed although it is. */
static void try_kill(struct cgroup_facts *out, struct cgroup *cg)
{
	pid_t pid = child_in(cg);
	int status = 0, r;

	if (pid < 0) {
		no(&out->kill,
		   "clone3 into the group: %s: a kernel of 5.7 or newer is wanted, and a seccomp "
		   "profile that allows clone3",
		   strerror(errno));
		no(&out->freeze, "not tried: no process could be made in the group");
		return;
	}
	r = cgroup_freeze(cg, true);
	out->freeze.ok = true;
	if (r < 0)
		no(&out->freeze, "write cgroup.freeze: %s", strerror(-r));
	else if (!becomes_frozen(cg))
		no(&out->freeze,
		   "cgroup.freeze was written, the process did not freeze within 1 s");

	out->kill.ok = true;
	r = cgroup_kill(cg);
	if (r < 0) {
		no(&out->kill, "write cgroup.kill: %s: a kernel of 5.14 or newer is wanted",
		   strerror(-r));
		kill(pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
}

void cgroup_probe(struct cgroup_facts *out)
{
	struct cgroup_limits none = CGROUP_NO_LIMITS, one;
	struct cgroup_place place;
	struct cgroup *cg = NULL;
	struct err err;

	memset(out, 0, sizeof(*out));
	if (cgroup_place_find(&place, NULL, &err) < 0) {
		snprintf(out->detail, sizeof(out->detail), "%.255s", err.text);
	} else {
		out->driver = place.driver;
		snprintf(out->detail, sizeof(out->detail), "%s: groups go below '%.200s'",
			 cgroup_driver_name(place.driver), place.base.dir);
	}
	cgroup_place_done(&place);

	one = none;
	one.memory_bytes = TRY_MEMORY;
	try_limit(&out->memory, &one);
	one = none;
	one.pids = TRY_PIDS;
	try_limit(&out->pids, &one);
	one = none;
	one.cpu_millicores = TRY_MILLICORES;
	try_limit(&out->cpu, &one);

	if (make(&cg, &none, &err) < 0) {
		no(&out->kill, "%.*s", (int)sizeof(out->kill.why) - 1, err.text);
		no(&out->freeze, "%.*s", (int)sizeof(out->freeze.why) - 1, err.text);
		return;
	}
	try_kill(out, cg);
	drop(cg);
}
