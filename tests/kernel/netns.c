/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 60 */
/* A network namespace of its own: nothing leads out, lo works, it goes with its process, and it is cheap. */
#include "must.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "kern/netns.h"

#define ROUNDS 40

static int listener(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	MUST(fd >= 0 && bind(fd, (struct sockaddr *)at, sizeof(*at)) == 0 && listen(fd, 16) == 0);
	MUST(getsockname(fd, (struct sockaddr *)at, &len) == 0);
	return fd;
}

static bool dials(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool reached = fd >= 0 && connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0;

	close(fd);
	return reached;
}

static int arrivals(int fd)
{
	int n = 0, c;

	while ((c = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		close(c);
		n++;
	}
	return n;
}

static void lo_is_there_and_nothing_else(void)
{
	struct ifaddrs *all, *i;
	struct sockaddr_in inside;

	MUST(getifaddrs(&all) == 0);
	for (i = all; i; i = i->ifa_next)
		MUST(!strcmp(i->ifa_name, "lo") && i->ifa_flags & IFF_UP);
	freeifaddrs(all);
	listener(&inside);
	MUST(dials(&inside));
}

static void nothing_leads_out(void **state)
{
	struct sockaddr_in outside, far = { .sin_family = AF_INET,
					    .sin_port = htons(80),
					    .sin_addr.s_addr = htonl(0xc0000201) };
	int fd = listener(&outside), status;
	struct err err = { 0 };
	char what[MOUNTS_WHAT] = "", byte;
	int gate[2];
	pid_t pid;

	(void)state;
	MUST(pipe(gate) == 0);
	pid = fork();
	if (pid == 0) {
		MUST(netns_enter(what) == 0);
		lo_is_there_and_nothing_else();
		MUST(!dials(&outside) && errno != 0);
		MUST(!dials(&far));
		MUST(read(gate[0], &byte, 1) == 1);
		_exit(0);
	}
	sleep_ms(100);
	OK(&err, netns_verify(pid, &err));
	assert_int_not_equal(netns_verify(getpid(), &err), 0);
	MUST(write(gate[1], "x", 1) == 1);
	MUST(waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
	assert_int_equal(arrivals(fd), 0);
	assert_true(dials(&outside)); /* the control */
	assert_int_equal(arrivals(fd), 1);
	close(fd);
}

static void abstract_names_of_others_are_out_of_reach(void **state)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), status;
	socklen_t len;
	pid_t pid;

	(void)state;
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			  (size_t)snprintf(name.sun_path + 1, 32, "sbx-netns-%d", (int)getpid()));
	MUST(bind(fd, (struct sockaddr *)&name, len) == 0 && listen(fd, 4) == 0);
	for (int apart = 0; apart < 2; apart++) {
		pid = fork();
		if (pid == 0) {
			char what[MOUNTS_WHAT];
			int c = socket(AF_UNIX, SOCK_STREAM, 0);

			if (apart) {
				MUST(netns_enter(what) == 0);
				c = socket(AF_UNIX, SOCK_STREAM, 0);
			}
			_exit(connect(c, (struct sockaddr *)&name, len) ? 1 : 0);
		}
		MUST(waitpid(pid, &status, 0) == pid);
		assert_int_equal(WEXITSTATUS(status), apart);
	}
	close(fd);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* What is measured is printed. The bound is for a machine under emulation: a wait, not a price. */
static void it_is_cheap(void **state)
{
	uint64_t *took = shared(ROUNDS * sizeof(*took));

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			char what[MOUNTS_WHAT];
			uint64_t begin = now_ns();

			MUST(netns_enter(what) == 0);
			took[i] = now_ns() - begin;
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	qsort(took, ROUNDS, sizeof(*took), by_size);
	print_message("median %.0f us, worst %.0f us\n", (double)took[ROUNDS / 2] / 1e3,
		      (double)took[ROUNDS - 1] / 1e3);
	assert_in_range(took[ROUNDS / 2], 0, 200000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_leads_out),
		cmocka_unit_test(abstract_names_of_others_are_out_of_reach),
		cmocka_unit_test(it_is_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
