/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and kill: a group of its own for each try, gone again afterwards. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "kern/attempt.h"
#include "kern/probe.h"

#define MEMORY_CAP (32ULL << 20)
#define MEMORY_WANTED (64ULL << 20)
#define PIDS_CAP 4
#define CPU_CAP_MILLICORES 50
#define CPU_WANTED_NS \
	30000000ULL /* at the cap: six periods of 100 ms; without it: at most a few slices */
#define CPU_THROTTLED_NS 300000000ULL

#define REMEDY_GROUPS                                                                              \
	"mount cgroup2 with this controller (kernel: CONFIG_MEMCG, CONFIG_CGROUP_PIDS, "           \
	"CONFIG_CFS_BANDWIDTH) and run as root; docker, podman: --privileged --cgroupns=private; " \
	"Kubernetes: securityContext.privileged; or --cgroup-parent a delegated group"

/* Exit status of an act: 0 the limit held, 1 it did not. */
static int take_memory(void *arg)
{
	char *p = mmap(NULL, MEMORY_WANTED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	(void)arg;
	if (p == MAP_FAILED)
		return 0;
	for (size_t i = 0; i < MEMORY_WANTED; i += 4096)
		((volatile char *)p)[i] = 1;
	return 1;
}

static int take_processes(void *arg)
{
	pid_t pids[2 * PIDS_CAP];
	int made = 0, refused = 0;

	(void)arg;
	while (made < 2 * PIDS_CAP && !refused) {
		pids[made] = fork();
		if (pids[made] == 0)
			for (;;)
				pause();
		refused = pids[made] < 0 && errno == EAGAIN;
		made += !refused;
	}
	for (int i = 0; i < made; i++)
		if (pids[i] > 0 && !kill(pids[i], SIGKILL))
			waitpid(pids[i], NULL, 0);
	return refused ? 0 : 1;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int take_cpu(void *arg)
{
	uint64_t begin = clock_boot_ns();

	(void)arg;
	while (own_cpu_ns() < CPU_WANTED_NS)
		;
	return clock_boot_ns() - begin >= CPU_THROTTLED_NS ? 0 : 1;
}

/* A member that leaves its session and parent, and one more below it. */
static int hide(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2; i++)
		if (fork() > 0 || setsid() < 0)
			break;
	for (;;)
		pause();
	return 1;
}

static struct cgroup_opts group_opts(char *name, size_t size)
{
	struct cgroup_opts opts = {
		.name = name,
		.limits = CGROUP_NO_LIMITS,
	};

	snprintf(name, size, "sbx-doctor-%d", (int)getpid());
	return opts;
}

static void drop_group(struct cgroup *cg)
{
	cgroup_kill(cg);
	cgroup_destroy(cg, NULL);
	cgroup_free(cg);
}

struct limit_try {
	enum capability capability;
	const char *controller, *wanted;
	struct cgroup_limits limits;
	int (*act)(void *arg);
};

static const struct limit_try limit_tries[] = {
	{ CAP_MEMORY_CAP,
	  "memory",
	  "64 MiB under a limit of 32 MiB",
	  { MEMORY_CAP, CGROUP_NOT_ASKED, CGROUP_NOT_ASKED, CGROUP_NOT_ASKED },
	  take_memory },
	{ CAP_PIDS_CAP,
	  "pids",
	  "8 processes under a limit of 4",
	  { CGROUP_NOT_ASKED, CGROUP_NOT_ASKED, PIDS_CAP, CGROUP_NOT_ASKED },
	  take_processes },
	{ CAP_CPU_CAP,
	  "cpu",
	  "30 ms of CPU under a limit of 0.05 CPUs",
	  { CGROUP_NOT_ASKED, CGROUP_NOT_ASKED, CGROUP_NOT_ASKED, CPU_CAP_MILLICORES },
	  take_cpu },
};

/* What making a group says already: nothing more to try. */
static bool refused_already(struct probe_row *row, const struct cgroup_fact *fact)
{
	row->listed = fact->ok;
	if (fact->ok)
		return false;
	probe_say(row, "none", "%s", fact->why);
	return true;
}

static void try_limit(struct probe_row *row, const struct limit_try *try,
		      const struct cgroup_fact *fact)
{
	struct err err = { 0 };
	struct cgroup *cg;
	char name[40], mechanism[48];
	struct cgroup_opts opts = group_opts(name, sizeof(name));
	int status;

	opts.limits = try->limits;
	snprintf(row->remedy, sizeof(row->remedy), "%s", REMEDY_GROUPS);
	if (refused_already(row, fact))
		return;
	if (cgroup_create(&cg, &opts, &err)) {
		probe_say(row, "none", "%s", err.text);
		return;
	}
	status = attempt(cg, try->act, NULL);
	row->attempted =
		status == 0 || (try->capability == CAP_MEMORY_CAP && status == 128 + SIGKILL);
	row->enforced = row->attempted;
	snprintf(mechanism, sizeof(mechanism), "%s %s", try->controller,
		 cgroup_driver(cg) == CGROUP_HYBRID ? "v1" : "v2");
	if (row->enforced)
		row->remedy[0] = 0;
	probe_say(row, mechanism, "%s: %s", try->wanted,
		  row->attempted ? "refused"
		  : status < 0	 ? strerror(-status)
				 : "not refused");
	drop_group(cg);
}

static bool empties(const struct cgroup *cg)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < ATTEMPT_MS; i++) {
		if (cgroup_populated(cg) == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void try_kill(struct probe_row *row, const struct cgroup_fact *fact)
{
	const struct timespec settle = { .tv_nsec = 20000000 };
	struct attempt c;
	struct err err = { 0 };
	struct cgroup *cg;
	char name[40];
	struct cgroup_opts opts = group_opts(name, sizeof(name));
	int rc;

	snprintf(row->remedy, sizeof(row->remedy), "%s; cgroup.kill needs Linux 5.14",
		 REMEDY_GROUPS);
	if (refused_already(row, fact))
		return;
	if (cgroup_create(&cg, &opts, &err)) {
		probe_say(row, "none", "%s", err.text);
		return;
	}
	rc = attempt_start(&c, cg, hide, NULL);
	if (!rc) {
		nanosleep(&settle, NULL);
		rc = cgroup_kill(cg);
		row->attempted = !rc && empties(cg);
		attempt_wait(&c, ATTEMPT_MS);
	}
	row->enforced = row->attempted;
	probe_say(row, "cgroup.kill and rows", "three processes in sessions of their own: %s",
		  row->attempted ? "gone"
		  : rc		 ? strerror(-rc)
				 : "still there");
	if (row->enforced)
		row->remedy[0] = 0;
	drop_group(cg);
}

void probe_groups(struct probe_report *r)
{
	struct cgroup_facts facts = { 0 };
	const struct cgroup_fact *const of[] = { &facts.memory, &facts.pids, &facts.cpu };

	cgroup_probe(&facts);
	snprintf(r->driver, sizeof(r->driver), "%s", cgroup_driver_name(facts.driver));
	try_kill(&r->rows[CAP_TREE_KILL], &facts.kill);
	for (size_t i = 0; i < sizeof(limit_tries) / sizeof(*limit_tries); i++)
		try_limit(&r->rows[limit_tries[i].capability], &limit_tries[i], of[i]);
}
