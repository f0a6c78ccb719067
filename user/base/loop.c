/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "base/loop.h"
#include "base/own.h"

#define ROUND_MAX 64
#define NS_PER_SEC 1000000000ULL

struct loop_round {
	struct epoll_event events[ROUND_MAX];
	int count, at;
};

int loop_init(struct loop *loop, struct err *err)
{
	*loop = (struct loop){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC), .timer_fd = -1 };
	if (loop->epoll_fd < 0)
		return err_set(err, -errno, "make an epoll set");
	return 0;
}

void loop_done(struct loop *loop)
{
	close_fd(&loop->timer_fd);
	close_fd(&loop->epoll_fd);
	loop->timers = NULL;
}

static int control(struct loop *loop, int op, struct loop_source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	return epoll_ctl(loop->epoll_fd, op, source->fd, &event) < 0 ? -errno : 0;
}

int loop_add(struct loop *loop, struct loop_source *source, uint32_t events, struct err *err)
{
	int r = events ? control(loop, EPOLL_CTL_ADD, source, events) : 0;

	if (r < 0)
		return err_set(err, r, "watch descriptor %d", source->fd);
	source->events = events;
	source->added = true;
	return 0;
}

/* epoll reports hang-ups of a registered descriptor whatever is asked, so a parked source is out of
 * the set: a closed peer would keep the loop spinning otherwise. */
int loop_mod(struct loop *loop, struct loop_source *source, uint32_t events)
{
	int op = !source->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
	int r;

	if (!source->added)
		return -ENOENT;
	if (events == source->events)
		return 0;

	r = control(loop, op, source, events);
	if (r < 0)
		return r;
	source->events = events;
	return 0;
}

void loop_del(struct loop *loop, struct loop_source *source)
{
	struct loop_round *round = loop->round;

	if (!source->added)
		return;
	if (source->events)
		control(loop, EPOLL_CTL_DEL, source, 0);
	source->added = false;
	source->events = 0;

	/* The owner may free the source now. */
	for (int i = round ? round->at : 0; round && i < round->count; i++)
		if (round->events[i].data.ptr == source)
			round->events[i].data.ptr = NULL;
}

/* Timers without a timerfd (out of descriptors) still fire: loop_run bounds its wait instead. */
static void timer_open(struct loop *loop)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = loop };

	if (loop->timer_fd >= 0)
		return;
	loop->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (loop->timer_fd >= 0 &&
	    epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->timer_fd, &event) < 0)
		close_fd(&loop->timer_fd);
}

/* Nothing to wait for, no timerfd: who looks at the descriptors sees that there is no deadline. */
static void timer_close(struct loop *loop)
{
	if (loop->timer_fd < 0)
		return;
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, loop->timer_fd, NULL);
	close_fd(&loop->timer_fd);
}

static void timer_program(struct loop *loop)
{
	struct itimerspec at = { 0 };

	if (loop->timer_fd < 0)
		return;
	if (loop->timers) {
		at.it_value.tv_sec = (time_t)(loop->timers->due_ns / NS_PER_SEC);
		at.it_value.tv_nsec = (long)(loop->timers->due_ns % NS_PER_SEC);
	}
	timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void timer_unlink(struct loop *loop, struct loop_timer *timer)
{
	struct loop_timer **at = &loop->timers;

	while (*at && *at != timer)
		at = &(*at)->next;
	if (*at)
		*at = timer->next;
	timer->next = NULL;
	timer->due_ns = 0;
}

void loop_timer_arm(struct loop *loop, struct loop_timer *timer, uint64_t due_ns)
{
	struct loop_timer **at = &loop->timers, *first = loop->timers;

	timer_unlink(loop, timer);
	timer->due_ns = due_ns ? due_ns : 1;
	while (*at && (*at)->due_ns <= timer->due_ns)
		at = &(*at)->next;
	timer->next = *at;
	*at = timer;

	timer_open(loop);
	if (loop->timers != first || first == timer)
		timer_program(loop);
}

void loop_timer_disarm(struct loop *loop, struct loop_timer *timer)
{
	bool first = loop->timers == timer;

	if (!timer->due_ns)
		return;
	timer_unlink(loop, timer);
	if (first)
		timer_program(loop);
}

/* Fires what is due now, each at most once: one that re-arms itself in the past cannot hold the
 * loop. */
static void timers_fire(struct loop *loop)
{
	uint64_t now = loop->timers ? clock_boot_ns() : 0;
	size_t due = 0;

	for (struct loop_timer *t = loop->timers; t && t->due_ns <= now; t = t->next)
		due++;
	for (; due && loop->timers && loop->timers->due_ns <= now; due--) {
		struct loop_timer *timer = loop->timers;

		loop_timer_disarm(loop, timer);
		timer->fire(timer->arg);
	}
}

static void deliver(struct loop *loop, const struct epoll_event *event)
{
	struct loop_source *source = event->data.ptr;
	uint64_t ticks;

	if (event->data.ptr == loop) {
		/* Only clears readiness: due timers are found by the clock. */
		if (read(loop->timer_fd, &ticks, sizeof(ticks)) < 0)
			return;
	} else if (source && source->events) {
		/* Parked since epoll_wait: not wanted any more. */
		uint32_t wanted = event->events & (source->events | EPOLLERR | EPOLLHUP);

		if (wanted)
			source->ready(source->arg, wanted);
	}
}

static int wait_ms(const struct loop *loop)
{
	uint64_t now, due = loop->timers ? loop->timers->due_ns : 0;

	if (!due || loop->timer_fd >= 0)
		return -1;
	now = clock_boot_ns();
	if (due <= now)
		return 0;
	return due - now > NS_PER_SEC ? 1000 : (int)((due - now) / 1000000 + 1);
}

int loop_step(struct loop *loop, struct err *err)
{
	struct loop_round round;

	timers_fire(loop);
	if (loop->stop)
		return 0;
	if (!loop->timers)
		timer_close(loop);

	round.count = epoll_wait(loop->epoll_fd, round.events, ROUND_MAX, wait_ms(loop));
	if (round.count < 0 && errno != EINTR)
		return err_set(err, -errno, "wait for events");

	loop->round = &round;
	for (round.at = 0; round.at < round.count && !loop->stop; round.at++) {
		timers_fire(loop);
		if (!loop->stop)
			deliver(loop, &round.events[round.at]);
	}
	loop->round = NULL;
	return 0;
}

int loop_run(struct loop *loop, struct err *err)
{
	int rc = 0;

	while (rc == 0 && !loop->stop)
		rc = loop_step(loop, err);
	return rc;
}
