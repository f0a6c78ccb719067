/* SPDX-License-Identifier: Apache-2.0 */
/* What only packets show: control messages that change their headers, and ports that are listened on without a
 * bind. LSM refuses the call; elsewhere the hooks on the run's own group drop the packet. */
#include "net_scene.h"

#include <poll.h>
#include <sys/stat.h>

static const char *const policy[] = { "192.0.2.1:80/udp", "[2001:db8::1]:80/udp", NULL };

static char group[256];

/* A group of the v2 hierarchy for the tree, as a run has one. */
static int make_group(void)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[1024], at[200], type[32];
	int fd = -1;

	MUST(mounts);
	while (fd < 0 && fgets(line, sizeof(line), mounts)) {
		if (sscanf(line, "%*s %199s %31s", at, type) != 2 || strcmp(type, "cgroup2") != 0)
			continue;
		snprintf(group, sizeof(group), "%s/sbx-test-net-%d", at, (int)getpid());
		MUST(!mkdir(group, 0755));
		fd = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	fclose(mounts);
	MUST(fd >= 0);
	return fd;
}

static void enter_group(void)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	MUST(fd >= 0 && write(fd, "0", 1) == 1);
	close(fd);
}

/* ---- control messages ------------------------------------------------------------------------- */

static const unsigned char record_route[8] = { 7, 7, 4 };
static const unsigned char loose_route[8] = { 131, 7, 4, 192, 0, 2, 2 };
static const unsigned char padding[8] = { 0, 0, 1, 4 };
static const struct in_pktinfo no_place;

static const struct message {
	const char *what;
	size_t door;
	int level, type;
	const void *data;
	size_t len;
	bool passes; /* where LSM does not refuse the call */
} messages[] = {
	{ "IP_PKTINFO", 0, IPPROTO_IP, IP_PKTINFO, &no_place, sizeof(no_place), true },
	{ "IP_RETOPTS, record route", 0, IPPROTO_IP, IP_RETOPTS, record_route, 8, false },
	{ "IP_RETOPTS, loose source route", 0, IPPROTO_IP, IP_RETOPTS, loose_route, 8, false },
	{ "IPV6_HOPOPTS", 1, IPPROTO_IPV6, IPV6_HOPOPTS, padding, 8, false },
	{ "IPV6_DSTOPTS", 1, IPPROTO_IPV6, IPV6_DSTOPTS, padding, 8, false },
};

static int send_with(const struct message *m)
{
	const struct door *door = &doors[m->door];
	union any_address to;
	socklen_t len = address_of(&to, door->address, door->port);
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(no_place))] = { 0 };
	struct iovec iov = { (void *)"x", 1 };
	struct msghdr msg = { .msg_name = &to,
			      .msg_namelen = len,
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = room,
			      .msg_controllen = CMSG_SPACE(m->len) };
	int fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = m->level;
	c->cmsg_type = m->type;
	c->cmsg_len = CMSG_LEN(m->len);
	memcpy(CMSG_DATA(c), m->data, m->len);
	rc = sendmsg(fd, &msg, 0) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static int send_from_group(void *arg)
{
	const struct message *m = arg;
	int rc, passes = m->passes && !kern_net_lsm(k);

	enter_group();
	rc = send_with(m);
	if (rc != (passes ? 0 : -EPERM))
		print_error("%s: %d\n", m->what, rc);
	return rc != (passes ? 0 : -EPERM);
}

static void no_control_message_leads_elsewhere(void **state)
{
	int fd;

	(void)state;
	if (!k)
		skip();
	fd = make_group();
	for (size_t i = 0; i < COUNT(messages); i++) {
		const struct message *m = &messages[i];
		struct under u = {
			.allow = policy, .group_fd = fd, .act = send_from_group, .arg = (void *)m
		};
		unsigned int before = control_dial(m->door), after;

		/* But for source routes, which hosts do not follow, each arrives when nobody forbids it. */
		assert_int_equal(send_with(m), 0);
		if (m->data != loose_route)
			wait_arrivals(m->door, before + 1);
		before = control_dial(m->door);
		under_start(&u);
		assert_int_equal(under_end(&u), 0);
		after = control_dial(m->door);
		if (after - before != 1u + (m->passes && !kern_net_lsm(k)))
			fail_msg("%s: %u arrivals", m->what, after - before - 1);
	}
	close(fd);
	assert_int_equal(rmdir(group), 0);
}

/* ---- listening ---------------------------------------------------------------------------------- */

enum { UNBOUND, WILD, NAMED, PORTS };

struct listening {
	uint16_t ports[PORTS];
	int ready, done;
};

static uint16_t port_of(int fd)
{
	struct sockaddr_in at;
	socklen_t len = sizeof(at);

	MUST(!getsockname(fd, (struct sockaddr *)&at, &len));
	return ntohs(at.sin_port);
}

static int listens(void *arg)
{
	struct listening *l = arg;

	enter_group();
	for (int i = 0; i < PORTS; i++) {
		const struct sockaddr_in at = { .sin_family = AF_INET,
						.sin_port = htons(i == NAMED ? 7080 : 0) };
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		MUST(fd >= 0);
		MUST(i == UNBOUND || !bind(fd, (const struct sockaddr *)&at, sizeof(at)));
		MUST(!listen(fd, 8));
		l->ports[i] = port_of(fd);
		MUST(!dial("127.0.0.1", l->ports[i], SOCK_STREAM)); /* inside it is there */
	}
	__atomic_store_n(&l->ready, 1, __ATOMIC_SEQ_CST);
	for (int ms = 0; !__atomic_load_n(&l->done, __ATOMIC_SEQ_CST) && ms < 10000; ms++)
		sleep_ms(1);
	return 0;
}

/* Whether a connection comes to be within a third of a second. */
static bool reaches(uint16_t port)
{
	union any_address to;
	socklen_t len = address_of(&to, "192.0.2.1", port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	struct pollfd polled = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(error);

	MUST(fd >= 0);
	if (!connect(fd, &to.sa, len) || (errno == EINPROGRESS && poll(&polled, 1, 300) == 1))
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	else
		error = ETIMEDOUT;
	close(fd);
	return !error;
}

static void nobody_outside_reaches_a_port_that_was_not_named(void **state)
{
	static const char *const binds[] = { "7080", NULL };
	struct listening *l = shared(sizeof(*l));
	struct under u = { .allow = policy, .binds = binds, .act = listens, .arg = l };

	(void)state;
	if (!k || kern_net_lsm(k))
		skip(); /* there listen(2) is refused: net_local */
	u.group_fd = make_group();
	under_start(&u);
	for (int ms = 0; !__atomic_load_n(&l->ready, __ATOMIC_SEQ_CST) && ms < 10000; ms++)
		sleep_ms(1);
	assert_true(reaches(l->ports[NAMED]));
	assert_false(reaches(l->ports[UNBOUND]));
	assert_false(reaches(l->ports[WILD]));
	__atomic_store_n(&l->done, 1, __ATOMIC_SEQ_CST);
	assert_int_equal(under_end(&u), 0);
	close(u.group_fd);
	assert_int_equal(rmdir(group), 0);
}

static int make_scene(void **state)
{
	net_scene_make(state);
	open_door("192.0.2.1", 80, SOCK_DGRAM);
	open_door("2001:db8::1", 80, SOCK_DGRAM);
	doors_open();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_control_message_leads_elsewhere),
		cmocka_unit_test(nobody_outside_reaches_a_port_that_was_not_named),
	};

	return cmocka_run_group_tests(tests, make_scene, net_scene_unmake);
}
