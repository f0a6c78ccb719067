/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_world: a network of its own for one test program. Addresses that are nobody's (RFC 5737, 3849) lie
 * on loopback, so that packets for them arrive and go nowhere else.
 */
#ifndef KERNEL_NET_WORLD_H
#define KERNEL_NET_WORLD_H

#include "must.h"

#include <arpa/inet.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

union any_address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static inline socklen_t address_of(union any_address *out, const char *text, uint16_t port)
{
	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, &out->in.sin_addr) == 1) {
		out->in.sin_family = AF_INET;
		out->in.sin_port = htons(port);
		return sizeof(out->in);
	}
	MUST(inet_pton(AF_INET6, text, &out->in6.sin6_addr) == 1);
	out->in6.sin6_family = AF_INET6;
	out->in6.sin6_port = htons(port);
	return sizeof(out->in6);
}

static inline void lo_v4(int fd, int alias, const char *text)
{
	struct ifreq ifr = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&ifr.ifr_addr;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "lo:%d", alias);
	in->sin_family = AF_INET;
	MUST(inet_pton(AF_INET, text, &in->sin_addr) == 1);
	MUST(!ioctl(fd, SIOCSIFADDR, &ifr));
	in->sin_addr.s_addr = INADDR_BROADCAST;
	MUST(!ioctl(fd, SIOCSIFNETMASK, &ifr));
}

static inline void lo_v6(const char *text)
{
	struct in6_ifreq ifr = { .ifr6_prefixlen = 128, .ifr6_ifindex = 1 };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	MUST(fd >= 0 && inet_pton(AF_INET6, text, &ifr.ifr6_addr) == 1);
	MUST(!ioctl(fd, SIOCSIFADDR, &ifr));
	close(fd);
}

/* Loopback alone, as a namespace begins. */
static inline void lo_on(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	MUST(fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &ifr));
	close(fd);
}

static inline void lo_up(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	MUST(fd >= 0);
	lo_on();
	lo_v4(fd, 1, "192.0.2.1");
	lo_v4(fd, 2, "192.0.2.2");
	lo_v4(fd, 3, "10.9.9.9");
	lo_v4(fd, 4, "169.254.169.254");
	lo_v6("2001:db8::1");
	lo_v6("2001:db8::2");
	close(fd);
}

static inline int dial(const char *address, uint16_t port, int type)
{
	union any_address to;
	socklen_t len = address_of(&to, address, port);
	int fd = socket(to.sa.sa_family, type | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = type == SOCK_STREAM ? connect(fd, &to.sa, len)
				 : (int)sendto(fd, "x", 1, 0, &to.sa, len);
	rc = rc < 0 ? -errno : 0;
	close(fd);
	return rc;
}

#endif
