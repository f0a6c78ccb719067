/* SPDX-License-Identifier: Apache-2.0 */
/* A refusal on the network, in the words of the options that would allow it. */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "kern/denials.h"
#include "policy/net_address.h"

static const struct name {
	uint32_t number;
	const char *text;
} families[] = {
	{ AF_INET, "AF_INET" },	    { AF_INET6, "AF_INET6" },	  { AF_NETLINK, "AF_NETLINK" },
	{ AF_PACKET, "AF_PACKET" }, { AF_ALG, "AF_ALG" },	  { AF_VSOCK, "AF_VSOCK" },
	{ AF_XDP, "AF_XDP" },	    { AF_BLUETOOTH, "AF_BLUETOOTH" }, { AF_CAN, "AF_CAN" },
	{ AF_TIPC, "AF_TIPC" },	    { AF_SMC, "AF_SMC" },	  { 0, NULL },
}, types[] = {
	{ SOCK_STREAM, "stream" },	 { SOCK_DGRAM, "datagram" }, { SOCK_RAW, "raw" },
	{ SOCK_SEQPACKET, "seqpacket" }, { 0, NULL },
}, levels[] = {
	{ IPPROTO_IP, "IP" }, { IPPROTO_IPV6, "IPv6" }, { IPPROTO_TCP, "TCP" }, { 0, NULL },
};

static const char *name_of(const struct name *names, uint32_t number)
{
	for (; names->text; names++)
		if (names->number == number)
			return names->text;
	return "?";
}

static void address_text(const struct sbx_net_denial *n, char *buf, size_t size)
{
	struct net_address address = { .version = (uint8_t)n->version };
	char text[NET_ADDRESS_TEXT];

	memcpy(address.bytes, n->address, sizeof(address.bytes));
	net_address_text(&address, text);
	snprintf(buf, size, n->version == SBX_NET_V6 ? "[%s]:%u%s" : "%s:%u%s", text, n->port,
		 n->protocol == IPPROTO_UDP ? "/udp" : "");
}

void denials_net_text(const struct sbx_net_denial *n, enum sbx_act act, char *buf, size_t size)
{
	if (n->family == AF_UNIX)
		snprintf(buf, size, "%.*s", (int)sizeof(n->name),
			 n->name[0] ? n->name : "a unix socket without a name");
	else if (act == SBX_ACT_SOCKET)
		snprintf(buf, size, "%s %s, protocol %u", name_of(families, n->family),
			 name_of(types, n->type), n->protocol);
	else if (act == SBX_ACT_OPTION && n->option)
		snprintf(buf, size, "%s socket option %u", name_of(levels, n->level), n->option);
	else if (act == SBX_ACT_OPTION)
		snprintf(buf, size, "a control message");
	else
		address_text(n, buf, size);
}
