/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "kern/attempt.h"

#define BUDGET_NS 20000000ULL
#define OVERRUN_NS 100000000ULL /* of a try; a busy host is not a broken one */

void probe_say(struct probe_row *row, const char *mechanism, const char *detail_fmt, ...)
{
	va_list args;

	snprintf(row->mechanism, sizeof(row->mechanism), "%s", mechanism);
	va_start(args, detail_fmt);
	vsnprintf(row->detail, sizeof(row->detail), detail_fmt, args);
	va_end(args);
}

static int sleep_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return 0;
}

/* A child that would never end is killed when a timer of ours fires. */
static void time_budget(struct probe_row *row)
{
	const struct itimerspec due = { .it_value.tv_nsec = BUDGET_NS };
	own_fd timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
	struct pollfd fired = { .fd = timer, .events = POLLIN };
	uint64_t begin = clock_boot_ns(), late_ns;
	struct attempt c;

	row->listed = true;
	if (timer < 0 || timerfd_settime(timer, 0, &due, NULL) ||
	    attempt_start(&c, NULL, sleep_for_ever, NULL)) {
		probe_say(row, "timerfd", "could not be tried: %s", strerrordesc_np(errno));
		return;
	}
	poll(&fired, 1, ATTEMPT_MS);
	attempt_wait(&c, 0);
	late_ns = clock_boot_ns() - begin - BUDGET_NS;
	row->attempted = row->enforced = late_ns < OVERRUN_NS;
	probe_say(row, "timerfd", "a deadline of 20 ms was overrun by %llu µs",
		  (unsigned long long)(late_ns / 1000));
}

static int write_some(void *arg)
{
	return write(*(int *)arg, "x\xff\0y", 4) == 4 ? 0 : 1;
}

static void output_capture(struct probe_row *row)
{
	own_fd from = -1, to = -1;
	char got[8];
	int pair[2], status;

	row->listed = true;
	if (pipe2(pair, O_CLOEXEC)) {
		probe_say(row, "pipes", "pipe: %s", strerrordesc_np(errno));
		return;
	}
	from = pair[0];
	to = pair[1];
	status = attempt(NULL, write_some, &to);
	row->attempted = row->enforced =
		status == 0 && read(from, got, sizeof(got)) == 4 && !memcmp(got, "x\xff\0y", 4);
	probe_say(row, "pipes", "four bytes came through %s",
		  row->attempted ? "as they were" : "changed, or not at all");
}

void probe_keeper(struct probe_report *r)
{
	time_budget(&r->rows[CAP_TIME_BUDGET]);
	output_capture(&r->rows[CAP_OUTPUT_CAPTURE]);
}

void probe_host(struct probe_report *out, void (*next)(const char *what))
{
	static const struct {
		const char *what;
		void (*try)(struct probe_report *r);
	} parts[] = {
		{ "tracking and kill", probe_tracking },
		{ "control groups", probe_groups },
		{ "files, network, isolation", probe_confinement },
		{ "the keeper", probe_keeper },
	};

	*out = (struct probe_report){ 0 };
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (next)
			next(parts[i].what);
		parts[i].try(out);
	}
	if (!out->rows[CAP_PROCESS_TRACKING].enforced || !out->rows[CAP_TREE_KILL].enforced)
		out->tier = PROBE_TIER_NONE;
	else
		out->tier = out->rows[CAP_LSM_ENFORCEMENT].enforced ? PROBE_TIER_A : PROBE_TIER_B;
}
