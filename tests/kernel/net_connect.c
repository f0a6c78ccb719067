/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves a sandbox by IPv4 and IPv6, by each way to send. */
#include "net_scene.h"

#include <linux/if_packet.h>

static const char *const policy[] = { "192.0.2.1:80", "192.0.2.1:80/udp", "[2001:db8::1]:80",
				      "[2001:db8::1]:80/udp", NULL };

/* One way to reach a door, and whether the policy admits it. */
struct way {
	const char *name;
	int (*go)(const struct door *door);
	size_t door;
	bool admitted;
};

static int by_dial(const struct door *door)
{
	return dial(door->address, door->port, door->type);
}

static int sends(const struct door *door, const char *mapped)
{
	union any_address to;
	socklen_t len = address_of(&to, mapped, door->port);
	int fd = socket(AF_INET6, door->type | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = door->type == SOCK_STREAM ? connect(fd, &to.sa, len)
				       : (int)sendto(fd, "x", 1, 0, &to.sa, len);
	rc = rc < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static int by_mapped(const struct door *door)
{
	char mapped[64];

	snprintf(mapped, sizeof(mapped), "::ffff:%s", door->address);
	return sends(door, mapped);
}

/* The first packet carries data, and no connect(2) is made. */
static int by_fast_open(const struct door *door)
{
	union any_address to;
	socklen_t len = address_of(&to, door->address, door->port);
	int fd = socket(to.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc = (int)sendto(fd, "x", 1, MSG_FASTOPEN, &to.sa, len);

	rc = rc < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static int by_connected(const struct door *door)
{
	union any_address to;
	socklen_t len = address_of(&to, door->address, door->port);
	int fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = connect(fd, &to.sa, len);

	if (!rc)
		rc = (int)send(fd, "x", 1, 0);
	rc = rc < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* AF_UNSPEC is taken for AF_INET there. */
static int by_unspec(const struct door *door)
{
	union any_address to;
	socklen_t len = address_of(&to, door->address, door->port);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	to.sa.sa_family = AF_UNSPEC;
	rc = (int)sendto(fd, "x", 1, 0, &to.sa, len);
	rc = rc < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* An IPv6 socket takes an IPv4 address. */
static int by_other_family(const struct door *door)
{
	union any_address to;
	socklen_t len = address_of(&to, door->address, door->port);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = (int)sendto(fd, "x", 1, 0, &to.sa, len);

	rc = rc < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static int by_many(const struct door *door)
{
	union any_address to;
	socklen_t len = address_of(&to, door->address, door->port);
	struct iovec iov = { (void *)"x", 1 };
	struct mmsghdr one = {
		.msg_hdr = { .msg_name = &to, .msg_namelen = len, .msg_iov = &iov, .msg_iovlen = 1 }
	};
	int fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = sendmmsg(fd, &one, 1, 0);

	rc = rc < 0 ? -errno : 0;
	close(fd);
	return rc;
}

enum { T4, T4_PORT, T4_HOST, U4, U4_PORT, U4_HOST, T6, T6_HOST, U6, U6_HOST, PRIVATE, METADATA };

static const struct way ways[] = {
	{ "tcp, admitted", by_dial, T4, true },
	{ "tcp, another port", by_dial, T4_PORT, false },
	{ "tcp, another host", by_dial, T4_HOST, false },
	{ "udp, admitted", by_dial, U4, true },
	{ "udp, another port", by_dial, U4_PORT, false },
	{ "udp, another host", by_dial, U4_HOST, false },
	{ "tcp6, admitted", by_dial, T6, true },
	{ "tcp6, another host", by_dial, T6_HOST, false },
	{ "udp6, admitted", by_dial, U6, true },
	{ "udp6, another host", by_dial, U6_HOST, false },
	{ "private", by_dial, PRIVATE, false },
	{ "metadata", by_dial, METADATA, false },
	{ "mapped tcp, admitted", by_mapped, T4, true },
	{ "mapped tcp", by_mapped, T4_HOST, false },
	{ "mapped udp, admitted", by_mapped, U4, true },
	{ "mapped udp", by_mapped, U4_HOST, false },
	{ "fast open, admitted", by_fast_open, T4, true },
	{ "fast open", by_fast_open, T4_HOST, false },
	{ "fast open 6", by_fast_open, T6_HOST, false },
	{ "connected udp, admitted", by_connected, U4, true },
	{ "connected udp", by_connected, U4_HOST, false },
	{ "connected udp6", by_connected, U6_HOST, false },
	{ "AF_UNSPEC, admitted", by_unspec, U4, true },
	{ "AF_UNSPEC", by_unspec, U4_HOST, false },
	{ "IPv4 by an IPv6 socket, admitted", by_other_family, U4, true },
	{ "IPv4 by an IPv6 socket", by_other_family, U4_HOST, false },
	{ "sendmmsg, admitted", by_many, U4, true },
	{ "sendmmsg", by_many, U6_HOST, false },
};

static int go(void *arg)
{
	const struct way *way = arg;
	int rc = way->go(&doors[way->door]);

	if (way->admitted ? rc != 0 : rc != -EPERM)
		print_error("%s: %d\n", way->name, rc);
	return way->admitted ? rc != 0 : rc != -EPERM;
}

static void each_way_out_is_held_and_each_admitted_one_open(void **state)
{
	(void)state;
	if (!k)
		skip();
	for (size_t i = 0; i < COUNT(ways); i++) {
		unsigned int before = control_dial(ways[i].door), after;

		assert_int_equal(under(policy, go, (void *)&ways[i]), 0);
		if (ways[i].admitted)
			wait_arrivals(ways[i].door, before + 1);
		after = control_dial(ways[i].door);
		if (after - before != 1u + ways[i].admitted)
			fail_msg("%s: %u arrivals", ways[i].name, after - before - 1);
	}
}

/* Without any rule no door opens, and whoever is outside is not bound. */
static void none_means_none(void **state)
{
	(void)state;
	if (!k)
		skip();
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct way closed = ways[i];
		unsigned int before = control_dial(closed.door);

		closed.admitted = false;
		assert_int_equal(under(NULL, go, &closed), 0);
		assert_int_equal(control_dial(closed.door) - before, 1);
	}
}

static int make_scene(void **state)
{
	net_scene_make(state);
	open_door("192.0.2.1", 80, SOCK_STREAM);
	open_door("192.0.2.1", 81, SOCK_STREAM);
	open_door("192.0.2.2", 80, SOCK_STREAM);
	open_door("192.0.2.1", 80, SOCK_DGRAM);
	open_door("192.0.2.1", 81, SOCK_DGRAM);
	open_door("192.0.2.2", 80, SOCK_DGRAM);
	open_door("2001:db8::1", 80, SOCK_STREAM);
	open_door("2001:db8::2", 80, SOCK_STREAM);
	open_door("2001:db8::1", 80, SOCK_DGRAM);
	open_door("2001:db8::2", 80, SOCK_DGRAM);
	open_door("10.9.9.9", 80, SOCK_STREAM);
	open_door("169.254.169.254", 80, SOCK_STREAM);
	doors_open();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_out_is_held_and_each_admitted_one_open),
		cmocka_unit_test(none_means_none),
	};

	return cmocka_run_group_tests(tests, make_scene, net_scene_unmake);
}
