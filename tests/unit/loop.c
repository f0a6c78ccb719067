/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"
#include "base/own.h"

#define MS 1000000ULL

struct fixture {
	struct loop loop;
	int pipes[4][2];
	struct loop_source sources[4];
	struct loop_timer timers[4];
	struct watch {
		struct fixture *f;
		int index;
	} watch[4];
	int hits[4], fires[4];
	char order[32]; /* 's0' for a source, 't1' for a timer */
	void (*then)(struct fixture *f, int index);
};

static void ready(void *arg, uint32_t events)
{
	struct watch *w = arg;
	size_t len = strlen(w->f->order);

	(void)events;
	if (len + 3 < sizeof(w->f->order))
		snprintf(w->f->order + len, 3, "s%d", w->index);
	w->f->hits[w->index]++;
	if (w->f->then)
		w->f->then(w->f, w->index);
}

static void fire(void *arg)
{
	struct watch *w = arg;
	size_t len = strlen(w->f->order);

	if (len + 3 < sizeof(w->f->order))
		snprintf(w->f->order + len, 3, "t%d", w->index);
	w->f->fires[w->index]++;
}

static void fire_and_stop(void *arg)
{
	fire(arg);
	((struct watch *)arg)->f->loop.stop = true;
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .then = NULL };
	assert_int_equal(loop_init(&f->loop, NULL), 0);
	for (int i = 0; i < 4; i++) {
		f->watch[i] = (struct watch){ f, i };
		assert_int_equal(pipe2(f->pipes[i], O_CLOEXEC | O_NONBLOCK), 0);
		f->sources[i] = (struct loop_source){ .fd = f->pipes[i][0],
						      .ready = ready,
						      .arg = &f->watch[i] };
		f->timers[i] = (struct loop_timer){ .fire = fire, .arg = &f->watch[i] };
	}
}

static void finish(struct fixture *f)
{
	loop_done(&f->loop);
	for (int i = 0; i < 4; i++) {
		close_fd(&f->pipes[i][0]);
		close_fd(&f->pipes[i][1]);
	}
}

/* A timer that ends the loop, whatever else goes wrong. */
static void stop_after(struct fixture *f, uint64_t ms)
{
	f->timers[3].fire = fire_and_stop;
	loop_timer_arm(&f->loop, &f->timers[3], clock_boot_ns() + ms * MS);
}

static void feed(struct fixture *f, int i)
{
	assert_int_equal(write(f->pipes[i][1], "x", 1), 1);
	assert_int_equal(loop_add(&f->loop, &f->sources[i], EPOLLIN, NULL), 0);
}

static void stop_now(struct fixture *f, int index)
{
	(void)index;
	f->loop.stop = true;
}

static void no_timer_means_no_timerfd(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(f.loop.timer_fd, -1);
	feed(&f, 0);
	f.then = stop_now;
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_int_equal(f.hits[0], 1);
	assert_int_equal(f.loop.timer_fd, -1);
	loop_timer_arm(&f.loop, &f.timers[0], clock_boot_ns() + MS);
	assert_true(f.loop.timer_fd >= 0);
	finish(&f);
}

static void a_loop_told_to_stop_before_it_runs_does_not_wait(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.loop.stop = true;
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	finish(&f);
}

static void timers_fire_in_order_and_not_early(void **state)
{
	struct fixture f;
	uint64_t start;

	(void)state;
	begin(&f);
	start = clock_boot_ns();
	loop_timer_arm(&f.loop, &f.timers[1], start + 20 * MS);
	loop_timer_arm(&f.loop, &f.timers[0], start + 5 * MS);
	loop_timer_arm(&f.loop, &f.timers[2], start + 10 * MS);
	stop_after(&f, 30);
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_true(clock_boot_ns() - start >= 30 * MS);
	assert_string_equal(f.order, "t0t2t1t3");
	assert_int_equal(f.timers[0].due_ns, 0);
	finish(&f);
}

static void a_disarmed_timer_does_not_fire_and_a_moved_one_fires_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	loop_timer_arm(&f.loop, &f.timers[0], clock_boot_ns() + MS);
	loop_timer_disarm(&f.loop, &f.timers[0]);
	loop_timer_disarm(&f.loop, &f.timers[0]);
	loop_timer_arm(&f.loop, &f.timers[1], clock_boot_ns() + MS);
	loop_timer_arm(&f.loop, &f.timers[1], clock_boot_ns() + 5 * MS);
	stop_after(&f, 15);
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_string_equal(f.order, "t1t3");
	finish(&f);
}

static void due_in_the_slow_source(struct fixture *f, int index)
{
	/* The first source takes longer than the deadline; more sources wait behind it. */
	if (index == 0)
		usleep(15000);
	loop_del(&f->loop, &f->sources[index]);
}

static void a_deadline_comes_before_sources_that_are_ready(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < 3; i++)
		feed(&f, i);
	f.then = due_in_the_slow_source;
	loop_timer_arm(&f.loop, &f.timers[0], clock_boot_ns() + 10 * MS);
	stop_after(&f, 40);
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_string_equal(f.order, "s0t0s1s2t3");
	finish(&f);
}

static void a_flood_of_ready_sources_cannot_starve_a_timer(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < 3; i++)
		feed(&f, i); /* never read: ready for ever */
	stop_after(&f, 20);
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_int_equal(f.fires[3], 1);
	finish(&f);
}

static void rearm_in_the_past(void *arg)
{
	struct watch *w = arg;

	fire(arg);
	loop_timer_arm(&w->f->loop, &w->f->timers[w->index], 1);
}

static void a_timer_rearmed_in_the_past_cannot_hold_the_loop(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.timers[0].fire = rearm_in_the_past;
	loop_timer_arm(&f.loop, &f.timers[0], 1);
	feed(&f, 0);
	f.then = stop_now;
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_int_equal(f.hits[0], 1);
	finish(&f);
}

static void delete_the_others(struct fixture *f, int index)
{
	for (int i = 0; i < 3; i++)
		if (i != index)
			loop_del(&f->loop, &f->sources[i]);
	/* Whatever the address now holds must not be called. */
	for (int i = 0; i < 3; i++)
		if (i != index)
			memset(&f->sources[i], 0xa5, sizeof(f->sources[i]));
	f->loop.stop = true;
}

static void a_source_deleted_in_a_round_is_not_called_in_it(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < 3; i++)
		feed(&f, i);
	f.then = delete_the_others;
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_int_equal(f.hits[0] + f.hits[1] + f.hits[2], 1);
	finish(&f);
}

static void delete_and_go_on(struct fixture *f, int index)
{
	delete_the_others(f, index);
	loop_del(&f->loop, &f->sources[index]);
	f->loop.stop = false;
}

static void deleted_sources_stay_silent_when_the_round_goes_on(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < 3; i++)
		feed(&f, i);
	f.then = delete_and_go_on;
	stop_after(&f, 10);
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_int_equal(f.hits[0] + f.hits[1] + f.hits[2], 1);
	finish(&f);
}

static void park_the_others(struct fixture *f, int index)
{
	for (int i = 0; i < 3; i++)
		assert_int_equal(loop_mod(&f->loop, &f->sources[i], 0), 0);
	(void)index;
}

static void a_parked_source_hears_nothing_not_even_a_hang_up(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < 3; i++)
		feed(&f, i);
	f.then = park_the_others;
	close_fd(&f.pipes[0][1]);
	stop_after(&f, 10);
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_int_equal(f.hits[0] + f.hits[1] + f.hits[2], 1);

	/* Woken again, it hears what it missed. */
	f.then = stop_now;
	f.loop.stop = false;
	assert_int_equal(loop_mod(&f.loop, &f.sources[0], EPOLLIN), 0);
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_true(f.hits[0] >= 1);
	finish(&f);
}

static void a_source_may_start_parked(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(loop_mod(&f.loop, &f.sources[0], EPOLLIN), -ENOENT);
	assert_int_equal(loop_add(&f.loop, &f.sources[0], 0, NULL), 0);
	assert_int_equal(write(f.pipes[0][1], "x", 1), 1);
	stop_after(&f, 5);
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_int_equal(f.hits[0], 0);
	loop_del(&f.loop, &f.sources[0]);
	loop_del(&f.loop, &f.sources[0]);
	finish(&f);
}

static void a_regular_file_is_refused_by_name(void **state)
{
	own_file file = tmpfile();
	struct loop_source source;
	struct fixture f;
	struct err err;

	(void)state;
	begin(&f);
	assert_non_null(file);
	source = (struct loop_source){ .fd = fileno(file), .ready = ready };
	assert_int_equal(loop_add(&f.loop, &source, EPOLLIN, &err), -EPERM);
	assert_false(source.added);
	finish(&f);
}

static void timers_fire_when_no_descriptor_is_left_for_them(void **state)
{
	struct fixture f;
	int held[256], count = 0;
	struct rlimit few = { 200, 200 }, before;

	(void)state;
	begin(&f);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (count < 256 && (held[count] = dup(0)) >= 0)
		count++;
	assert_in_range(count, 1, 255);
	stop_after(&f, 10);
	assert_int_equal(f.loop.timer_fd, -1);
	assert_int_equal(loop_run(&f.loop, NULL), 0);
	assert_int_equal(f.fires[3], 1);
	while (count)
		close(held[--count]);
	setrlimit(RLIMIT_NOFILE, &before);
	finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_timer_means_no_timerfd),
		cmocka_unit_test(a_loop_told_to_stop_before_it_runs_does_not_wait),
		cmocka_unit_test(timers_fire_in_order_and_not_early),
		cmocka_unit_test(a_disarmed_timer_does_not_fire_and_a_moved_one_fires_once),
		cmocka_unit_test(a_deadline_comes_before_sources_that_are_ready),
		cmocka_unit_test(a_flood_of_ready_sources_cannot_starve_a_timer),
		cmocka_unit_test(a_timer_rearmed_in_the_past_cannot_hold_the_loop),
		cmocka_unit_test(a_source_deleted_in_a_round_is_not_called_in_it),
		cmocka_unit_test(deleted_sources_stay_silent_when_the_round_goes_on),
		cmocka_unit_test(a_parked_source_hears_nothing_not_even_a_hang_up),
		cmocka_unit_test(a_source_may_start_parked),
		cmocka_unit_test(a_regular_file_is_refused_by_name),
		cmocka_unit_test(timers_fire_when_no_descriptor_is_left_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
