/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 150 */
/* Records of a tree reach its keeper; what does not fit is counted, and changes nothing of the
 * truth. */
#include "keeper.h"

#include <poll.h>

#include "kern/events.h"

static struct kern *k;
static const struct kern_sandbox_opts watched = { .keeper_owns = true, .want_events = true };

struct seen {
	unsigned int kinds[4];
	struct sbx_event list[64];
	unsigned int count;
	uint64_t id;
	bool strange;
};

static void note(void *arg, const struct sbx_event *event)
{
	struct seen *s = arg;

	s->strange |= event->sandbox != s->id || event->kind < SBX_EVENT_FORK ||
		      event->kind > SBX_EVENT_EXIT;
	if (!s->strange)
		s->kinds[event->kind]++;
	if (s->count < 64)
		s->list[s->count] = *event;
	s->count++;
}

/* The keeper opens its ring before the root is there. */
static struct events *start(struct tree *t, const struct kern_sandbox_opts *opts, struct seen *s,
			    int (*root)(void *), void *arg)
{
	struct err err = { .text = "" };
	struct events *events;

	*t = (struct tree){ .k = k };
	OK(&err, kern_sandbox_create(k, opts, &t->id, &err));
	*s = (struct seen){ .id = t->id };
	OK(&err, events_open(k, t->id, note, s, &events, &err));
	t->root = fork();
	if (!t->root)
		_exit(root(arg));
	assert_true(t->root > 0);
	return events;
}

static void end(struct tree *t, struct events *events)
{
	events_close(events);
	assert_int_equal(kern_sandbox_delete(k, t->id), 0);
}

struct family {
	pid_t pid, inner;
};

static int one_child_that_execs(void *arg)
{
	struct family *f = arg;
	pid_t inner = fork();
	int status;

	if (!inner) {
		execl("/bin/sh", "sh", "-c", "exit 3", NULL);
		_exit(1);
	}
	f->pid = getpid();
	f->inner = inner;
	waitpid(inner, &status, 0);
	return 4;
}

static void records_tell_who_forked_what_ran_and_how_it_ended(void **state)
{
	const uint32_t kinds[] = { SBX_EVENT_FORK, SBX_EVENT_FORK, SBX_EVENT_EXEC, SBX_EVENT_EXIT,
				   SBX_EVENT_EXIT };
	struct family *f = shared(sizeof(*f));
	struct events *events;
	struct seen s;
	struct tree t;

	(void)state;
	events = start(&t, &watched, &s, one_child_that_execs, f);
	tree_wait(&t);
	assert_int_equal(events_consume(events, 0), 5);
	assert_false(s.strange);
	for (unsigned int i = 0; i < 5; i++) {
		const struct sbx_event *e = &s.list[i];
		bool inner = i && i < 4;

		assert_int_equal(e->kind, kinds[i]);
		assert_int_equal(e->pid, inner ? f->inner : f->pid);
		assert_int_equal(e->ppid, inner ? f->pid : getpid());
		assert_int_equal(e->depth, inner);
		assert_true(e->time_ns >= e->start_ns);
		if (e->kind == SBX_EVENT_EXEC)
			assert_string_equal(e->comm, "sh");
		if (e->kind == SBX_EVENT_EXIT)
			assert_int_equal(e->status, (inner ? 3 : 4) << 8);
	}
	assert_int_equal(tree_row(&t).events_dropped, 0);
	end(&t, events);
}

static int burns(void *arg)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_nsec < 200000000 && !t.tv_sec);
	return !arg;
}

/* But for the last slice, which the scheduler has not booked yet. */
static void an_exit_tells_the_cpu_time(void **state)
{
	struct events *events;
	struct seen s;
	struct tree t;

	(void)state;
	events = start(&t, &watched, &s, burns, NULL);
	tree_wait(&t);
	assert_int_equal(events_consume(events, 0), 2);
	assert_in_range(s.list[1].cpu_ns, 100000000, 2000000000);
	end(&t, events);
}

static int many_children(void *arg)
{
	for (unsigned int i = 0; i < *(unsigned int *)arg; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* The next to have the slot finds it full of what is not its own. */
static void what_does_not_fit_is_counted_and_a_full_ring_is_reused_empty(void **state)
{
	unsigned int many = 900, few = 10; /* two records each, in a ring for some 1,600 */
	struct events *events;
	struct sbx_sandbox row;
	struct seen s;
	struct tree t;

	(void)state;
	events = start(&t, &watched, &s, many_children, &many);
	tree_wait(&t);
	row = tree_row(&t);
	assert_int_equal(row.processes, many + 1);
	assert_int_equal(row.exits, many + 1);
	assert_true(row.events_dropped > 0);
	end(&t, events); /* unread */

	events = start(&t, &watched, &s, many_children, &few);
	assert_int_equal(tree_row(&t).ring, row.ring);
	tree_wait(&t);
	events_consume(events, 0);
	assert_false(s.strange);
	assert_int_equal(s.count, 2 * (few + 1));
	assert_int_equal(tree_row(&t).events_dropped, 0);
	end(&t, events);
}

static void records_and_drops_add_up(void **state)
{
	unsigned int children = 900;
	struct events *events;
	struct seen s;
	struct tree t;

	(void)state;
	events = start(&t, &watched, &s, many_children, &children);
	tree_wait(&t);
	events_consume(events, 0);
	assert_true(tree_row(&t).events_dropped > 0);
	assert_int_equal(s.count + tree_row(&t).events_dropped, 2 * (children + 1));
	end(&t, events);
}

static void a_reader_is_woken_before_the_ring_is_full(void **state)
{
	unsigned int children = 300, woken = 0; /* more than a quarter of the ring */
	struct pollfd p = { .events = POLLIN };
	struct events *events;
	struct seen s;
	struct tree t;

	(void)state;
	events = start(&t, &watched, &s, many_children, &children);
	p.fd = events_fd(events);
	while (tree_row(&t).live)
		if (poll(&p, 1, 20) > 0) {
			woken++;
			events_consume(events, 0);
		}
	tree_wait(&t);
	events_consume(events, 0);
	assert_in_range(woken, 1, children);
	assert_int_equal(tree_row(&t).events_dropped, 0);
	assert_int_equal(s.count, 2 * (children + 1));
	end(&t, events);
}

static int three_execs(void *arg)
{
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		} else {
			wait(NULL);
		}
	return !arg;
}

static void a_crossed_limit_wakes_at_once(void **state)
{
	const struct kern_sandbox_opts bounded = { .keeper_owns = true,
						   .want_events = true,
						   .max_execs = 2 };
	struct pollfd p = { .events = POLLIN };
	struct events *events;
	struct seen s;
	struct tree t;

	(void)state;
	events = start(&t, &watched, &s, three_execs, NULL);
	p.fd = events_fd(events);
	tree_wait(&t);
	assert_int_equal(poll(&p, 1, 0), 0); /* a dozen records wake nobody */
	events_consume(events, 0);
	end(&t, events);

	if (kern_facts(k)->lsm) {
		print_message("on tier A the third exec is refused: there is no record of it\n");
		skip();
	}
	events = start(&t, &bounded, &s, three_execs, NULL);
	p.fd = events_fd(events);
	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_true(tree_row(&t).flags & SBX_EXECS_HIT);
	tree_wait(&t);
	end(&t, events);
}

static void consume_stops_where_it_is_told(void **state)
{
	unsigned int children = 20;
	struct events *events;
	struct seen s;
	struct tree t;
	int n, sum = 0;

	(void)state;
	events = start(&t, &watched, &s, many_children, &children);
	tree_wait(&t);
	while ((n = events_consume(events, 7)) > 0) {
		assert_in_range(n, 1, 7);
		sum += n;
	}
	assert_int_equal(n, 0);
	assert_int_equal(sum, 42);
	end(&t, events);
}

/* ---- slots ---------------------------------------------------------------------------------- */

static void more_sandboxes_than_rings_at_load_get_one_each(void **state)
{
	enum { COUNT = 40 };
	struct err err = { .text = "" };
	uint64_t ids[COUNT] = { 0 }, again = 0;
	bool used[SBX_MAX_RINGS] = { false };
	struct sbx_sandbox row;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		OK(&err, kern_sandbox_create(k, &watched, &ids[i], &err));
		assert_int_equal(kern_sandbox_read(k, ids[i], &row), 0);
		assert_in_range(row.ring, 0, SBX_MAX_RINGS - 1);
		assert_false(used[row.ring]);
		used[row.ring] = true;
	}
	kern_sandbox_delete(k, ids[COUNT - 1]);
	OK(&err, kern_sandbox_create(k, &watched, &again, &err));
	assert_int_equal(kern_sandbox_read(k, again, &row), 0);
	assert_true(used[row.ring]);
	kern_sandbox_delete(k, again);
	for (int i = 0; i < COUNT - 1; i++)
		kern_sandbox_delete(k, ids[i]);
}

static int setup(void **state)
{
	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	k = open_kern();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kern_close(k);
	return kern_unload(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_tell_who_forked_what_ran_and_how_it_ended),
		cmocka_unit_test(an_exit_tells_the_cpu_time),
		cmocka_unit_test(what_does_not_fit_is_counted_and_a_full_ring_is_reused_empty),
		cmocka_unit_test(records_and_drops_add_up),
		cmocka_unit_test(a_reader_is_woken_before_the_ring_is_full),
		cmocka_unit_test(a_crossed_limit_wakes_at_once),
		cmocka_unit_test(consume_stops_where_it_is_told),
		cmocka_unit_test(more_sandboxes_than_rings_at_load_get_one_each),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
