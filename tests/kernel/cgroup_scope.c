/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* Under systemd: what a transient scope a run owes its manager and its keeper. Skipped under any other driver. */
#include "cgroup_run.h"

#include <errno.h>
#include <stdlib.h>

#include "kern/dbus.h"

static const struct cgroup_limits none = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };

static void need_scopes(void)
{
	if (facts()->driver != CGROUP_SYSTEMD_SCOPE) {
		print_message("skipped: driver %s here\n", cgroup_driver_name(facts()->driver));
		skip();
	}
}

/* First line of what systemctl says of the unit of a group. */
static const char *property(const char *leaf, const char *name, char line[256])
{
	char command[300];
	FILE *said;

	snprintf(command, sizeof(command), "systemctl show --property %s --value %s.scope", name,
		 leaf);
	said = popen(command, "r");
	assert_non_null(said);
	line[0] = '\0';
	if (fgets(line, 256, said))
		line[strcspn(line, "\n")] = '\0';
	pclose(said);
	return line;
}

static void leaf_of(const struct cgroup *cg, char leaf[64])
{
	snprintf(leaf, 64, "%s", strrchr(cgroup_path(cg), '/') + 1);
}

/* A peer that reads the end of the handshake together with the call must not sit on the call. */
static void every_call_is_answered(void **state)
{
	static const struct dbus_method method = {
		.destination = "org.freedesktop.systemd1",
		.path = "/org/freedesktop/systemd1",
		.interface = "org.freedesktop.systemd1.Manager",
		.member = "StopUnit",
		.signature = "ss",
	};

	(void)state;
	need_scopes();
	for (int i = 0; i < 40; i++) {
		struct dbus_body body = { .len = 0 };
		struct dbus bus;
		struct err err;
		char name[128];

		dbus_body_string(&body, "sbx-no-such-unit.scope");
		dbus_body_string(&body, "replace");
		must(dbus_open(&bus, &err), &err);
		assert_int_equal(dbus_call(&bus, &method, &body, name, &err), -EREMOTEIO);
		assert_string_equal(name, "org.freedesktop.systemd1.NoSuchUnit");
		dbus_close(&bus);
	}
}

static void the_unit_lives_and_goes_with_the_run(void **state)
{
	struct cgroup_limits limits = none;
	char leaf[64], line[256];
	struct running r;

	(void)state;
	need_scopes();
	limits.memory_bytes = 64 * MIB;
	limits.pids = 20;
	limits.cpu_millicores = 250;
	start(&r, &limits, sleeps, NULL);
	leaf_of(r.cg, leaf);
	assert_string_equal(property(leaf, "ActiveState", line), "active");
	assert_string_equal(property(leaf, "Delegate", line), "yes");
	assert_string_equal(property(leaf, "CollectMode", line), "inactive-or-failed");
	assert_string_equal(property(leaf, "CPUQuotaPerSecUSec", line), "250ms");
	/* Wider by the placeholder's share, so that the run's own group is the one that binds. */
	assert_in_range(atoll(property(leaf, "MemoryMax", line)), 64 * MIB, 66 * MIB);
	assert_in_range(atoll(property(leaf, "TasksMax", line)), 20, 22);
	end(&r);
	assert_string_equal(property(leaf, "LoadState", line), "not-found");
}

static int returns(void *arg)
{
	(void)arg;
	return 0;
}

static void what_was_measured_stays_until_the_run_is_over(void **state)
{
	struct cgroup_limits limits = none, now;
	struct cgroup_usage usage;
	struct running r;

	(void)state;
	need_scopes();
	limits.memory_bytes = 64 * MIB;
	limits.pids = 20;
	start(&r, &limits, returns, NULL);
	wait_status(r.pid);
	sleep_ms(500); /* a scope without a process would be gone by now */
	cgroup_usage(r.cg, &usage);
	assert_true(usage.memory_peak_bytes != UINT64_MAX);
	assert_true(usage.cpu_user_ns != UINT64_MAX);
	cgroup_limits_now(r.cg, &now);
	assert_int_equal(now.memory_bytes, 64 * MIB);
	assert_int_equal(now.pids, 20);
	end(&r);
}

static void an_update_reaches_the_unit_and_outlives_a_reload(void **state)
{
	struct cgroup_limits limits = none, now;
	char leaf[64], line[256];
	struct running r;
	struct err err;

	(void)state;
	need_scopes();
	limits.pids = 20;
	start(&r, &limits, sleeps, NULL);
	leaf_of(r.cg, leaf);
	limits.pids = 40;
	must(cgroup_update(r.cg, &limits, &err), &err);
	assert_int_equal(system("systemctl daemon-reload"), 0);
	cgroup_limits_now(r.cg, &now);
	assert_int_equal(now.pids, 40);
	assert_in_range(atoll(property(leaf, "TasksMax", line)), 40, 42);
	must(cgroup_verify(r.cg, r.pid, &err), &err);
	end(&r);
}

static int runs_inside(void *arg)
{
	char name[64];
	struct cgroup_opts opts = { .name = name, .limits = none };
	struct cgroup *cg = NULL;
	struct err err;

	fresh_name(name);
	opts.limits.pids = 5;
	opts.limits.memory_bytes = 32 * MIB;
	opts.limits.cpu_millicores = 100;
	if (cgroup_create(&cg, &opts, &err) < 0) {
		print_error("%s\n", err.text);
		return 1;
	}
	snprintf(arg, 1024, "%s", cgroup_path(cg));
	return cgroup_destroy(cg, NULL) < 0 ? 2 : 0;
}

/* Beside it, it would have limits of its own and those of the outer one would bind neither. */
static void a_run_inside_a_run_stays_inside(void **state)
{
	char *path = (char *)shared_counters();
	struct cgroup_limits limits = none;
	struct running r;

	(void)state;
	need_scopes();
	limits.pids = 20;
	start(&r, &limits, runs_inside, path);
	assert_int_equal(wait_status(r.pid), 0);
	assert_int_equal(strncmp(path, cgroup_path(r.cg), strlen(cgroup_path(r.cg))), 0);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_answered),
		cmocka_unit_test(the_unit_lives_and_goes_with_the_run),
		cmocka_unit_test(what_was_measured_stays_until_the_run_is_over),
		cmocka_unit_test(an_update_reaches_the_unit_and_outlives_a_reload),
		cmocka_unit_test(a_run_inside_a_run_stays_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
