/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <string.h>

#include "policy/net_address.h"

/* How an IPv4 row looks from IPv6: as itself, through NAT64 and through 6to4. */
#define V4(a, b, c, d, bits, what)                                             \
	{ { 4, { (a), (b), (c), (d) } }, (bits), (what) },                     \
		{ { 6, { 0, 0x64, 0xff, 0x9b, [12] = (a), (b), (c), (d) } },   \
		  96 + (bits),                                                 \
		  (what) },                                                    \
	{                                                                      \
		{ 6, { 0x20, 0x02, (a), (b), (c), (d) } }, 16 + (bits), (what) \
	}

/* From the registries of special-purpose addresses (RFC 6890 and its successors), and where clouds keep
 * credentials. */
static const struct net_guard guards[] = {
	V4(0, 0, 0, 0, 8, "unspecified"),
	V4(10, 0, 0, 0, 8, "private"),
	V4(100, 64, 0, 0, 10, "private"),
	V4(100, 100, 100, 200, 32, "metadata"),
	V4(127, 0, 0, 0, 8, "loopback"),
	V4(169, 254, 0, 0, 16, "link-local"),
	V4(169, 254, 169, 254, 32, "metadata"),
	V4(172, 16, 0, 0, 12, "private"),
	V4(192, 0, 0, 0, 24, "private"),
	V4(192, 0, 0, 192, 32, "metadata"),
	V4(192, 168, 0, 0, 16, "private"),
	V4(198, 18, 0, 0, 15, "private"),
	V4(224, 0, 0, 0, 4, "multicast"),
	V4(240, 0, 0, 0, 4, "reserved"),
	{ { 6, { 0 } }, 96, "unspecified" }, /* IPv4-compatible ones, too */
	{ { 6, { [15] = 1 } }, 128, "loopback" },
	{ { 6, { 0, 0x64, 0xff, 0x9b, 0, 1 } }, 48, "private" },
	{ { 6, { 0xfc } }, 7, "private" },
	{ { 6, { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54 } }, 128, "metadata" },
	{ { 6, { 0xfe, 0x80 } }, 10, "link-local" },
	{ { 6, { 0xfe, 0xc0 } }, 10, "private" },
	{ { 6, { 0xff } }, 8, "multicast" },
};

const struct net_guard *net_guards(size_t *count)
{
	*count = sizeof(guards) / sizeof(guards[0]);
	return guards;
}

const struct net_guard *net_guarded(const struct net_address *address)
{
	const struct net_guard *found = NULL;

	for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++)
		if ((!found || guards[i].prefix > found->prefix) &&
		    net_address_within(address, &guards[i].address, guards[i].prefix))
			found = &guards[i];
	return found;
}

struct net_address net_address_v4(const uint8_t bytes[4])
{
	struct net_address address = { .version = 4 };

	memcpy(address.bytes, bytes, 4);
	return address;
}

struct net_address net_address_v6(const uint8_t bytes[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
	struct net_address address = { .version = 6 };

	if (!memcmp(bytes, mapped, sizeof(mapped)))
		return net_address_v4(bytes + 12);
	memcpy(address.bytes, bytes, 16);
	return address;
}

bool net_address_parse(const char *text, struct net_address *out)
{
	uint8_t bytes[16];

	if (inet_pton(AF_INET, text, bytes) == 1)
		*out = net_address_v4(bytes);
	else if (inet_pton(AF_INET6, text, bytes) == 1)
		*out = net_address_v6(bytes);
	else
		return false;
	return true;
}

void net_address_text(const struct net_address *address, char buf[NET_ADDRESS_TEXT])
{
	if (!inet_ntop(address->version == 4 ? AF_INET : AF_INET6, address->bytes, buf,
		       NET_ADDRESS_TEXT))
		buf[0] = '\0';
}

unsigned int net_address_bits(const struct net_address *address)
{
	return address->version == 4 ? 32 : 128;
}

bool net_address_within(const struct net_address *address, const struct net_address *net,
			unsigned int prefix)
{
	unsigned int whole = prefix / 8, rest = prefix % 8;

	if (address->version != net->version || memcmp(address->bytes, net->bytes, whole) != 0)
		return false;
	return !rest || !((address->bytes[whole] ^ net->bytes[whole]) >> (8 - rest));
}
