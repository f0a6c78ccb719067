/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup_scope.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/loop.h"
#include "base/own.h"
#include "kern/cgroup_limits.h"
#include "kern/dbus.h"

#define START_BUDGET_NS 5000000000ULL
#define PAUSE_MIN_NS 200000L
#define PAUSE_MAX_NS 5000000L
#define ALONE_NS 100000000ULL /* that systemd is given to notice by itself */

/* The placeholder's own group, and what the unit's limits must leave for it. */
#define HOLD "placeholder"
#define HOLD_BYTES (1 << 20)
#define HOLD_TASKS 1

#define MANAGER(call, types)                                                                    \
	{                                                                                       \
		.destination = "org.freedesktop.systemd1", .path = "/org/freedesktop/systemd1", \
		.interface = "org.freedesktop.systemd1.Manager", .member = (call),              \
		.signature = (types),                                                           \
	}

void cgroup_scope_slice(const char *name, char slice[CGROUP_PATH_MAX])
{
	static const char suffix[] = ".slice";
	const size_t n = sizeof(suffix) - 1;

	strcpy(slice, "system.slice");
	while (*name == '/') {
		size_t len = strcspn(++name, "/");

		/* Below a user@.service the slices are the user manager's. */
		if (len <= n || len >= CGROUP_PATH_MAX || memcmp(name + len - n, suffix, n) != 0)
			return;
		memcpy(slice, name, len);
		slice[len] = '\0';
		name += len;
	}
}

static void pause_longer(long *ns)
{
	struct timespec t = { .tv_nsec = *ns };

	nanosleep(&t, NULL);
	if (*ns < PAUSE_MAX_NS)
		*ns *= 2;
}

__attribute__((noreturn)) static void placeholder_main(int hold)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(hold, 0);
	syscall(SYS_close_range, 1U, ~0U, 0U);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static int hold(struct cgroup_scope *scope)
{
	int ends[2], r = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	scope->placeholder = fork();
	if (scope->placeholder == 0) {
		close(ends[1]);
		placeholder_main(ends[0]);
	}
	if (scope->placeholder > 0)
		scope->pidfd = (int)syscall(SYS_pidfd_open, scope->placeholder, 0);
	if (scope->pidfd < 0)
		r = -errno;
	close(ends[0]);
	scope->hold_fd = ends[1];
	return r;
}

/* By pidfd: the keeper reaps whatever ends, and the number may be another's by now. */
void cgroup_scope_release(struct cgroup_scope *scope)
{
	siginfo_t info;

	close_fd(&scope->hold_fd);
	if (scope->pidfd < 0)
		return;
	syscall(SYS_pidfd_send_signal, scope->pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, (id_t)scope->pidfd, &info, WEXITED) < 0 && errno == EINTR)
		;
	close_fd(&scope->pidfd);
}

static void begin(struct dbus_body *b, const char *name, const char *type)
{
	dbus_body_struct(b);
	dbus_body_string(b, name);
	dbus_body_signature(b, type);
}

static void text(struct dbus_body *b, const char *name, const char *value)
{
	begin(b, name, "s");
	dbus_body_string(b, value);
}

static void flag(struct dbus_body *b, const char *name, bool value)
{
	begin(b, name, "b");
	dbus_body_u32(b, value);
}

static void number(struct dbus_body *b, const char *name, uint64_t value)
{
	begin(b, name, "t");
	dbus_body_u64(b, value);
}

static void limit_properties(struct dbus_body *b, const struct cgroup_limits *l)
{
	bool swap = l->memory_bytes != CGROUP_NOT_ASKED || l->swap_bytes != CGROUP_NOT_ASKED;

	if (l->memory_bytes != CGROUP_NOT_ASKED)
		number(b, "MemoryMax", l->memory_bytes + HOLD_BYTES);
	if (swap)
		number(b, "MemorySwapMax", l->swap_bytes == CGROUP_NOT_ASKED ? 0 : l->swap_bytes);
	if (l->pids != CGROUP_NOT_ASKED)
		number(b, "TasksMax", l->pids + HOLD_TASKS);
	/* In µs of CPU a second. None at all is for the kernel to refuse, with its words. */
	if (l->cpu_millicores != CGROUP_NOT_ASKED && l->cpu_millicores > 0)
		number(b, "CPUQuotaPerSecUSec", l->cpu_millicores * 1000);
}

static void pid_property(struct dbus_body *b, pid_t pid)
{
	size_t mark;

	begin(b, "PIDs", "au");
	mark = dbus_body_array(b, 4);
	dbus_body_u32(b, (uint32_t)pid);
	dbus_body_array_end(b, mark, 4);
}

static int call(const struct dbus_method *method, const struct dbus_body *body, char name[128],
		struct err *err)
{
	struct dbus bus;
	int r = dbus_open(&bus, err);

	if (r < 0)
		return r;
	r = dbus_call(&bus, method, body, name, err);
	dbus_close(&bus);
	return r;
}

/* No OOMPolicy: the kernel kills the run's group as one, and systemd must not take the scope away with
 * what was measured in it. */
static int start_unit(const struct cgroup_scope *scope, const char *slice,
		      const struct cgroup_limits *limits, struct err *err)
{
	static const struct dbus_method method = MANAGER("StartTransientUnit", "ssa(sv)a(sa(sv))");
	struct dbus_body body = { .len = 0 };
	char name[128] = "";
	size_t mark;
	int r;

	dbus_body_string(&body, scope->unit);
	dbus_body_string(&body, "fail");
	mark = dbus_body_array(&body, 8);
	text(&body, "Description", "sbx run");
	text(&body, "Slice", slice);
	text(&body, "CollectMode", "inactive-or-failed");
	flag(&body, "Delegate", true);
	flag(&body, "MemoryAccounting", true);
	flag(&body, "TasksAccounting", true);
	limit_properties(&body, limits);
	pid_property(&body, scope->placeholder);
	dbus_body_array_end(&body, mark, 8);
	mark = dbus_body_array(&body, 8);
	dbus_body_array_end(&body, mark, 8);
	r = call(&method, &body, name, err);
	return r == -EREMOTEIO && strstr(name, "UnitExists")
		       ? err_set(err, -EEXIST, "start unit '%s'", scope->unit)
		       : r;
}

/* The answer only says that a job was made. The placeholder is moved after the limits are written. */
static int await_group(const struct cgroup_scope *scope, struct cgroup_paths *group,
		       struct err *err)
{
	uint64_t until_ns = clock_boot_ns() + START_BUDGET_NS;
	long pause = PAUSE_MIN_NS;
	char path[64], list[4096];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)scope->placeholder);
	while (clock_boot_ns() < until_ns) {
		ssize_t n = io_read_file(AT_FDCWD, path, list, sizeof(list));
		int r = n < 0 ? (int)n : cgroup_paths_name(list, NULL, group->name);

		if (!r && !strcmp(cgroup_paths_leaf(group), scope->unit))
			r = cgroup_paths_resolve(group);
		else if (!r)
			r = 1;
		if (r < 0)
			return err_set(err, r, "group of unit '%s'", scope->unit);
		if (!r)
			return 0;
		pause_longer(&pause);
	}
	return err_set(err, -ETIMEDOUT, "systemd did not start unit '%s'", scope->unit);
}

/* Out of the scope's own group, which then may pass controllers on. */
static int step_aside(const struct cgroup_scope *scope, struct err *err)
{
	own_fd dir = open(scope->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char pid[16];
	int r = 0;

	snprintf(pid, sizeof(pid), "%d", (int)scope->placeholder);
	if (dir < 0 || mkdirat(dir, HOLD, 0755) < 0)
		r = -errno;
	if (!r)
		r = io_write_file(dir, HOLD "/cgroup.procs", pid);
	return r < 0 ? err_set(err, r, "put the placeholder of unit '%s' aside", scope->unit) : 0;
}

/* What encloses us but will not enclose a unit beside us: it must not get more than we have. */
static void lower_to_ours(const struct cgroup_place *place, const char *slice,
			  struct cgroup_limits *limits)
{
	struct cgroup_limits ours = CGROUP_NO_LIMITS;

	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++)
		cgroup_limits_enclosing(&place->own, false, kind, slice, &ours);
	cgroup_limits_lower(limits, &ours);
}

int cgroup_scope_start(struct cgroup_scope *scope, const char *name, struct cgroup_place *place,
		       struct cgroup_limits *limits, struct err *err)
{
	struct cgroup_paths *group = &place->base;
	char slice[CGROUP_PATH_MAX];
	int r;

	snprintf(scope->unit, sizeof(scope->unit), "%s" CGROUP_SCOPE_SUFFIX, name);
	cgroup_scope_slice(place->own.name, slice);
	lower_to_ours(place, slice, limits);

	r = hold(scope);
	if (r < 0)
		err_set(err, r, "make a placeholder for unit '%s'", scope->unit);
	else
		r = start_unit(scope, slice, limits, err);
	if (!r)
		r = await_group(scope, group, err);
	if (!r) {
		strcpy(scope->dir, group->dir);
		r = step_aside(scope, err);
	}
	if (r < 0)
		cgroup_scope_release(scope); /* systemd collects the empty unit */
	return r;
}

int cgroup_scope_update(const struct cgroup_scope *scope, const struct cgroup_limits *limits,
			struct err *err)
{
	static const struct dbus_method method = MANAGER("SetUnitProperties", "sba(sv)");
	struct dbus_body body = { .len = 0 };
	size_t mark;

	dbus_body_string(&body, scope->unit);
	dbus_body_u32(&body, true); /* until the unit ends, not in a file */
	mark = dbus_body_array(&body, 8);
	limit_properties(&body, limits);
	dbus_body_array_end(&body, mark, 8);
	return call(&method, &body, NULL, err);
}

static bool goes(const char *dir, uint64_t until_ns)
{
	long pause = PAUSE_MIN_NS;

	while (!access(dir, F_OK)) {
		if (clock_boot_ns() >= until_ns)
			return false;
		pause_longer(&pause);
	}
	return true;
}

static int stop_unit(const char *unit, struct err *err)
{
	static const struct dbus_method method = MANAGER("StopUnit", "ss");
	struct dbus_body body = { .len = 0 };
	char name[128] = "";
	int r;

	dbus_body_string(&body, unit);
	dbus_body_string(&body, "replace");
	r = call(&method, &body, name, err);
	return r == -EREMOTEIO && strstr(name, "NoSuchUnit") ? 0 : r;
}

/*
 * We do not remove the scope's group ourselves: the kernel drops the notice that it became empty when the group
 * goes within 10 ms of the notice before, and systemd would keep the unit for ever.
 */
int cgroup_scope_gone(const char *dir, uint64_t until_ns, struct err *err)
{
	const char *slash = strrchr(dir, '/');
	uint64_t alone_ns = clock_boot_ns() + ALONE_NS;
	int r;

	if (goes(dir, alone_ns < until_ns ? alone_ns : until_ns))
		return 0;
	r = stop_unit(slash ? slash + 1 : dir, err);
	if (r < 0)
		return r;
	if (goes(dir, until_ns))
		return 0;
	return err_say(err, ERR_CLEANUP, -EBUSY, "systemd does not remove '%s'", dir);
}
