/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop: one epoll set and a list of timers, single-threaded.
 *
 * Sources and timers are embedded in their owner; the loop never frees them. Timers are absolute
 * CLOCK_BOOTTIME nanoseconds behind one timerfd, which exists only while a timer is armed. Timers
 * are looked at before every source, so that a flood of ready descriptors cannot starve a deadline.
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"

struct loop_source {
	int fd;
	uint32_t events; /* EPOLLIN …, 0 when parked */
	void (*ready)(void *arg, uint32_t events);
	void *arg;
	bool added;
};

struct loop_timer {
	uint64_t due_ns; /* 0: not armed */
	void (*fire)(void *arg);
	void *arg;
	struct loop_timer *next;
};

struct loop_round;

struct loop {
	int epoll_fd;
	int timer_fd;		   /* -1 until a timer was armed */
	struct loop_timer *timers; /* by due time */
	struct loop_round *round;  /* events of the round that is being delivered */
	bool stop;
};

int loop_init(struct loop *loop, struct err *err);
void loop_done(struct loop *loop);

/* Watches source->fd for `events`; regular files (EPERM) are refused. The caller keeps the
 * descriptor. */
int loop_add(struct loop *loop, struct loop_source *source, uint32_t events, struct err *err);
/* Changes the watched events; 0 parks the source without removing it (hang-ups included). */
int loop_mod(struct loop *loop, struct loop_source *source, uint32_t events);
/* Idempotent. Events of this round that were not delivered yet are dropped. */
void loop_del(struct loop *loop, struct loop_source *source);

/* Re-arming moves the timer. A due time in the past fires before the next source; 0 is taken as
 * 1. */
void loop_timer_arm(struct loop *loop, struct loop_timer *timer, uint64_t due_ns);
void loop_timer_disarm(struct loop *loop, struct loop_timer *timer);

/* Waits once and delivers what came. */
int loop_step(struct loop *loop, struct err *err);
/* Runs until loop->stop. 0 or negative errno of epoll. */
int loop_run(struct loop *loop, struct err *err);

#endif
