/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "run/capture.h"

struct fixture {
	char top[64];
	struct rundir dir;
	struct spec spec;
	struct loop loop;
	struct capture capture;
	struct loop_timer timer;
	int source[2], sink[2];
	int overs, gone, drained;
	uint64_t told;
};

static void on_output(void *arg, int number, const char *bytes, size_t len)
{
	(void)number, (void)bytes;
	((struct fixture *)arg)->told += len;
}

static void on_over(void *arg)
{
	((struct fixture *)arg)->overs++;
}

static void on_gone(void *arg, int error)
{
	assert_int_not_equal(error, 0);
	((struct fixture *)arg)->gone++;
}

static void on_drained(void *arg)
{
	struct fixture *f = arg;

	f->drained++;
	f->loop.stop = true;
}

static void on_timer(void *arg)
{
	((struct fixture *)arg)->loop.stop = true;
}

static void start_to(struct fixture *f, uint64_t limit, bool socket)
{
	const struct capture_hooks hooks = { .arg = f,
					     .output = on_output,
					     .over = on_over,
					     .sink_gone = on_gone,
					     .drained = on_drained };

	memset(f, 0, sizeof(*f));
	signal(SIGPIPE, SIG_IGN);
	snprintf(f->top, sizeof(f->top), "/tmp/sbx-unit-capture.XXXXXX");
	assert_non_null(mkdtemp(f->top));
	setenv("SBX_RUN_DIR", f->top, 1);
	spec_init(&f->spec);
	assert_int_equal(rundir_create(&f->dir, "aaaaaaaaaa", getuid(), getgid(), NULL), 0);
	assert_int_equal(loop_init(&f->loop, NULL), 0);
	assert_int_equal(pipe2(f->source, O_CLOEXEC), 0);
	assert_int_equal(socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, f->sink)
				: pipe2(f->sink, O_CLOEXEC),
			 0);
	capture_init(&f->capture, &f->loop, &hooks, limit);
	store_init(&f->capture.streams[0].store, &f->dir, "stdout.spill", &f->spec, UINT64_MAX);
	assert_int_equal(capture_add(&f->capture, 1, f->source[0], f->sink[1], NULL), 0);
	f->timer = (struct loop_timer){ .fire = on_timer, .arg = f };
}

static void start(struct fixture *f, uint64_t limit)
{
	start_to(f, limit, false);
}

static void run_for(struct fixture *f, uint64_t ms)
{
	f->loop.stop = false;
	loop_timer_arm(&f->loop, &f->timer, clock_boot_ns() + ms * 1000000);
	assert_int_equal(loop_run(&f->loop, NULL), 0);
	loop_timer_disarm(&f->loop, &f->timer);
}

static void end(struct fixture *f)
{
	capture_done(&f->capture);
	loop_done(&f->loop);
	close(f->sink[0]);
	close(f->sink[1]);
	spec_done(&f->spec);
	rundir_close(&f->dir);
	io_remove_tree(AT_FDCWD, f->top);
}

static void exactly_the_cap_is_no_breach_and_one_more_is(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 6);
	assert_int_equal(write(f.source[1], "abcdef", 6), 6);
	run_for(&f, 20);
	assert_int_equal(f.overs, 0);
	assert_int_equal(write(f.source[1], "gh", 2), 2);
	run_for(&f, 20);
	assert_int_equal(f.overs, 1);
	assert_int_equal(f.capture.streams[0].store.bytes, 6);
	close(f.source[1]);
	run_for(&f, 200);
	assert_int_equal(f.drained, 1);
	end(&f);
}

static void delays_no_timer_and_stops_the_reading(bool socket)
{
	struct fixture f;
	char chunk[65536] = { 0 };
	uint64_t begun, written = 0;
	ssize_t n;

	start_to(&f, RESULT_NONE, socket);
	fcntl(f.source[1], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 20; i++) {
		while ((n = write(f.source[1], chunk, sizeof(chunk))) > 0)
			written += (uint64_t)n;
		begun = clock_boot_ns();
		run_for(&f, 20);
		assert_true(clock_boot_ns() - begun < 1000000000);
	}
	/* source pipe, one buffer, sink pipe: then the writer is blocked */
	assert_true(written < 1024 * 1024);
	assert_true(f.told < written);
	assert_int_equal(f.drained, 0);
	close(f.source[1]);
	capture_drop_sinks(&f.capture);
	run_for(&f, 500);
	assert_int_equal(f.drained, 1);
	assert_int_equal(f.capture.streams[0].store.bytes, written);
	end(&f);
}

static void a_blocked_sink_delays_no_timer_and_stops_the_reading(void **state)
{
	(void)state;
	delays_no_timer_and_stops_the_reading(false);
}

static void a_blocked_socket_does_neither(void **state)
{
	(void)state;
	delays_no_timer_and_stops_the_reading(true);
}

static void a_reader_that_left_is_told_once_and_its_stream_is_closed(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, RESULT_NONE);
	close(f.sink[0]);
	assert_int_equal(write(f.source[1], "abc", 3), 3);
	run_for(&f, 20);
	assert_int_equal(write(f.source[1], "def", 3), -1);
	assert_int_equal(errno, EPIPE);
	close(f.source[1]);
	run_for(&f, 200);
	assert_int_equal(f.gone, 1);
	assert_int_equal(f.capture.streams[0].store.bytes, 3);
	f.sink[0] = -1;
	end(&f);
}

static void a_slow_reader_gets_every_byte_in_order(void **state)
{
	struct fixture f;
	unsigned char byte, chunk[4096];
	size_t sent = 0, got = 0;

	(void)state;
	start(&f, RESULT_NONE);
	fcntl(f.source[1], F_SETFL, O_NONBLOCK);
	fcntl(f.sink[0], F_SETFL, O_NONBLOCK);
	while (got < 2000000) {
		for (size_t i = 0; i < sizeof(chunk); i++)
			chunk[i] = (unsigned char)((sent + i) * 2654435761u >> 24);
		if (sent < 2000000 &&
		    write(f.source[1], chunk, sizeof(chunk)) == (ssize_t)sizeof(chunk))
			sent += sizeof(chunk);
		else
			run_for(&f, 1);
		for (int i = 0; i < 3000 && read(f.sink[0], &byte, 1) == 1; i++, got++)
			assert_int_equal(byte, (unsigned char)(got * 2654435761u >> 24));
	}
	close(f.source[1]);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_the_cap_is_no_breach_and_one_more_is),
		cmocka_unit_test(a_blocked_sink_delays_no_timer_and_stops_the_reading),
		cmocka_unit_test(a_blocked_socket_does_neither),
		cmocka_unit_test(a_reader_that_left_is_told_once_and_its_stream_is_closed),
		cmocka_unit_test(a_slow_reader_gets_every_byte_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
