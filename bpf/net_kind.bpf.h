/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* net_kind: kinds of sockets and of options, by their numbers alone. */
#ifndef NET_KIND_BPF_H
#define NET_KIND_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

enum { AF_UNSPEC = 0, AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16 };
enum { SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_RAW = 3, SOCK_SEQPACKET = 5 };
enum { IPPROTO_IP = 0, IPPROTO_TCP = 6, IPPROTO_UDP = 17, IPPROTO_IPV6 = 41 };

/* Kinds of sockets that rules can be about. */
static __always_inline bool net_is_plain(__u32 family, __u32 type, __u32 protocol)
{
	switch (family) {
	case AF_UNIX:
		return true;
	case AF_NETLINK:
		return protocol == 0; /* NETLINK_ROUTE */
	case AF_INET:
	case AF_INET6:
		return (type == SOCK_STREAM && (!protocol || protocol == IPPROTO_TCP)) ||
		       (type == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP));
	}
	return false;
}

/* Options by which a packet goes elsewhere than its address says (source routes, routing and extension
 * headers, flow labels that carry them, other protocols put on top), or that bring in what nobody asked
 * for (multicast). Numbers of linux/in.h, in6.h and tcp.h. */
static __always_inline bool net_is_detour(int level, int option)
{
	if (level == IPPROTO_IP)
		return option == 4 /* IP_OPTIONS */ || option == 3 /* IP_HDRINCL */ ||
		       option == 35 || option == 39 /* IP_ADD_*MEMBERSHIP */ || option == 42 ||
		       option == 46 /* MCAST_JOIN_* */;
	if (level == IPPROTO_IPV6)
		return option == 2 || option == 3 || option == 4 || option == 5 || option == 6 ||
		       option == 20 /* IPV6_ADD_MEMBERSHIP */ || option == 27 /* JOIN_ANYCAST */ ||
		       option == 32 /* IPV6_FLOWLABEL_MGR */ || option == 36 /* IPV6_HDRINCL */ ||
		       option == 42 || option == 46 || option == 54 /* IPV6_HOPOPTS */ ||
		       option == 55 || option == 57 /* IPV6_RTHDR */ || option == 59;
	return level == IPPROTO_TCP && option == 31; /* TCP_ULP */
}

#endif
