/* SPDX-License-Identifier: Apache-2.0 */
/* What stays inside: loopback, ports, kinds of sockets, options; and sandboxes within sandboxes. */
#include "net_scene.h"

#include <linux/netlink.h>

static const char *const one_host[] = { "192.0.2.1:80", NULL };
static const char *const none[] = { NULL };

static int bound(int type, const char *address, uint16_t *port)
{
	union any_address at;
	socklen_t len = address_of(&at, address, *port);
	int fd = socket(at.sa.sa_family, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, &at.sa, len) || getsockname(fd, &at.sa, &len)) {
		int error = errno;

		close(fd);
		return -error;
	}
	*port = ntohs(at.in.sin_port);
	return fd;
}

static int try_bind(const char *address, uint16_t port)
{
	int fd = bound(SOCK_STREAM, address, &port);

	if (fd < 0)
		return fd;
	if (listen(fd, 1))
		fd = -errno;
	close(fd);
	return fd < 0 ? fd : 0;
}

#define ANSWERS(wanted, got)                                                              \
	do {                                                                              \
		int got_ = (got);                                                         \
		if (got_ != (wanted))                                                     \
			print_error("%s:%d: %s is %d\n", __FILE__, __LINE__, #got, got_); \
		MUST(got_ == (wanted));                                                   \
	} while (0)

static int near(void *arg)
{
	uint16_t tcp = 0, udp = 0, six = 0, gone = 0;
	int a = bound(SOCK_STREAM, "127.0.0.1", &tcp), b = bound(SOCK_DGRAM, "127.0.0.1", &udp);
	int c = bound(SOCK_STREAM, "::1", &six), d = bound(SOCK_STREAM, "127.0.0.1", &gone);

	(void)arg;
	MUST(a >= 0 && b >= 0 && c >= 0 && d >= 0);
	MUST(!listen(a, 8) && !listen(c, 8));
	close(d);
	ANSWERS(0, dial("127.0.0.1", tcp, SOCK_STREAM));
	ANSWERS(0, dial("127.0.0.1", udp, SOCK_DGRAM));
	ANSWERS(0, dial("::1", six, SOCK_STREAM));
	ANSWERS(0, dial("0.0.0.0", tcp, SOCK_STREAM));
	ANSWERS(0, dial("::ffff:127.0.0.1", tcp, SOCK_STREAM));
	ANSWERS(-ECONNREFUSED, dial("127.0.0.1", gone, SOCK_STREAM));
	ANSWERS(-EPERM, dial("127.0.0.1", 7000, SOCK_STREAM));
	ANSWERS(-EPERM, dial("127.0.0.1", 7000, SOCK_DGRAM));
	ANSWERS(-EPERM, dial("0.0.0.0", 7000, SOCK_STREAM));
	ANSWERS(-EPERM, dial("::ffff:127.0.0.1", 7000, SOCK_STREAM));
	return 0;
}

static void loopback_is_inside_where_a_member_listens(void **state)
{
	unsigned int tcp, udp;

	(void)state;
	if (!k)
		skip();
	tcp = control_dial(0);
	udp = control_dial(1);
	assert_int_equal(under(none, near, NULL), 0);
	assert_int_equal(control_dial(0) - tcp, 1);
	assert_int_equal(control_dial(1) - udp, 1);
}

static int ports(void *arg)
{
	uint16_t any = 0;
	int fd = bound(SOCK_DGRAM, "0.0.0.0", &any); /* as a client's socket has */

	(void)arg;
	MUST(fd >= 0);
	ANSWERS(0, try_bind("127.0.0.1", 7100));
	ANSWERS(0, try_bind("::1", 7100));
	ANSWERS(0, try_bind("0.0.0.0", 7080));
	ANSWERS(0, try_bind("::", 7080));
	ANSWERS(-EPERM, try_bind("0.0.0.0", 7081));
	ANSWERS(-EPERM, try_bind("::", 7081));
	ANSWERS(-EPERM, try_bind("192.0.2.1", 7081));
	return 0;
}

static void a_port_that_others_reach_is_named(void **state)
{
	static const char *const binds[] = { "7080", NULL };
	struct under u = { .allow = none, .binds = binds, .act = ports };

	(void)state;
	if (!k)
		skip();
	under_start(&u);
	assert_int_equal(under_end(&u), 0);
}

static int listens_unbound(void *arg)
{
	uint16_t any = 0;
	int plain = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int wild = bound(SOCK_STREAM, "0.0.0.0", &any);

	(void)arg;
	MUST(plain >= 0 && wild >= 0);
	ANSWERS(-1, listen(plain, 1));
	ANSWERS(-1, listen(wild, 1));
	return 0;
}

static void listening_without_a_bind_is_held(void **state)
{
	(void)state;
	if (!k || !kern_net_lsm(k))
		skip(); /* elsewhere packets are: the group of a run */
	assert_int_equal(under(none, listens_unbound, NULL), 0);
}

static int try_socket(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int kinds(void *arg)
{
	bool lsm = *(bool *)arg;

	ANSWERS(0, try_socket(AF_INET, SOCK_STREAM, 0));
	ANSWERS(0, try_socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP));
	ANSWERS(0, try_socket(AF_UNIX, SOCK_STREAM, 0));
	ANSWERS(0, try_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
	ANSWERS(-EPERM, try_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
	ANSWERS(-EPERM, try_socket(AF_INET6, SOCK_RAW, IPPROTO_RAW));
	MUST(try_socket(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE) < 0); /* gone since 7.1 */
	MUST(try_socket(AF_INET, SOCK_STREAM, 262 /* MPTCP */) < 0);
	MUST(try_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP) < 0);
	if (lsm) {
		ANSWERS(-EPERM, try_socket(AF_PACKET, SOCK_RAW, 0));
		ANSWERS(-EPERM, try_socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT));
		ANSWERS(-EPERM, try_socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT));
		MUST(try_socket(AF_VSOCK, SOCK_STREAM, 0) < 0);
		MUST(try_socket(AF_ALG, SOCK_SEQPACKET, 0) < 0);
	}
	return 0;
}

static void kinds_without_rules_are_refused(void **state)
{
	bool lsm = k && kern_net_lsm(k);

	(void)state;
	if (!k)
		skip();
	assert_int_equal(under(one_host, kinds, &lsm), 0);
}

static int sets(int family, int level, int option, const void *value, socklen_t len)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = setsockopt(fd, level, option, value, len) ? -errno : 0;

	close(fd);
	return rc;
}

static int options(void *arg)
{
	static const unsigned char route[] = { 131, 7, 4, 192, 0, 2, 2, 0 }; /* LSRR */
	static const unsigned char header[24] = { 0, 2, 4, 1 };
	const struct ip_mreqn group = { .imr_multiaddr.s_addr = htonl(0xe0000101),
					.imr_ifindex = 1 };

	(void)arg;
	ANSWERS(-EPERM, sets(AF_INET, IPPROTO_IP, IP_OPTIONS, route, sizeof(route)));
	ANSWERS(-EPERM, sets(AF_INET6, IPPROTO_IPV6, IPV6_RTHDR, header, sizeof(header)));
	ANSWERS(-EPERM, sets(AF_INET, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group)));
	ANSWERS(0, sets(AF_INET, IPPROTO_IP, IP_TTL, &(int){ 64 }, sizeof(int)));
	ANSWERS(0, sets(AF_INET, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)));
	return 0;
}

static void options_that_lead_elsewhere_are_refused(void **state)
{
	(void)state;
	if (!k)
		skip();
	assert_int_equal(under(one_host, options, NULL), 0);
}

static int own(void *arg)
{
	uint16_t port = 0;
	int fd = bound(SOCK_STREAM, "0.0.0.0", &port);

	(void)arg;
	MUST(fd >= 0 && !listen(fd, 8));
	ANSWERS(0, dial("127.0.0.1", port, SOCK_STREAM));
	ANSWERS(-ECONNREFUSED, dial("127.0.0.1", 7000, SOCK_STREAM));
	ANSWERS(0, try_bind("::", 7300));
	ANSWERS(-EPERM, dial("192.0.2.1", 80, SOCK_STREAM));
	return 0;
}

static void a_namespace_of_its_own_is_inside(void **state)
{
	struct under u = { .own_space = true, .act = own };

	(void)state;
	if (!k)
		skip();
	under_start(&u);
	assert_int_equal(under_end(&u), 0);
}

static int narrow(void *arg)
{
	(void)arg;
	ANSWERS(0, dial("192.0.2.1", 80, SOCK_STREAM));
	ANSWERS(-EPERM, dial("192.0.2.2", 80, SOCK_STREAM));
	return 0;
}

static int shut(void *arg)
{
	(void)arg;
	ANSWERS(-EPERM, dial("192.0.2.1", 80, SOCK_STREAM));
	return 0;
}

static int nests(void *arg)
{
	static const char *const wider[] = { "192.0.2.0/24:80", NULL };

	(void)arg;
	k = open_kern();
	return under(wider, narrow, NULL) || under(none, shut, NULL);
}

static void an_inner_policy_only_narrows(void **state)
{
	(void)state;
	if (!k)
		skip();
	assert_int_equal(under(one_host, nests, NULL), 0);
}

static int make_scene(void **state)
{
	net_scene_make(state);
	open_door("127.0.0.1", 7000, SOCK_STREAM);
	open_door("127.0.0.1", 7000, SOCK_DGRAM);
	open_door("192.0.2.1", 80, SOCK_STREAM);
	open_door("192.0.2.2", 80, SOCK_STREAM);
	doors_open();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loopback_is_inside_where_a_member_listens),
		cmocka_unit_test(a_port_that_others_reach_is_named),
		cmocka_unit_test(listening_without_a_bind_is_held),
		cmocka_unit_test(kinds_without_rules_are_refused),
		cmocka_unit_test(options_that_lead_elsewhere_are_refused),
		cmocka_unit_test(a_namespace_of_its_own_is_inside),
		cmocka_unit_test(an_inner_policy_only_narrows),
	};

	return cmocka_run_group_tests(tests, make_scene, net_scene_unmake);
}
