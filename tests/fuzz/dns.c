/* SPDX-License-Identifier: Apache-2.0 */
/* Queries from the tree and answers from anywhere: what is accepted means the same after a round trip. The input is a
 * query, its length in the first two bytes, and an answer behind it. */
#include <stdlib.h>
#include <string.h>

#include "policy/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_answer(const struct dns_query *query, const struct dns_answer *first)
{
	uint8_t out[8192];
	struct dns_answer second;
	size_t len = dns_answer_write(query, first, false, out, sizeof(out));

	must(len <= sizeof(out) && dns_answer_parse(out, len, query, &second) == 0);
	must(second.rcode == first->rcode && second.alias_count == first->alias_count);
	must(second.address_count == first->address_count);
	must(!memcmp(second.addresses, first->addresses, sizeof(first->addresses)));
	must(dns_answer_write(query, first, true, out, sizeof(out)) <= DNS_UDP_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = size < 2 ? 0 : (size_t)data[0] << 8 | data[1];
	struct dns_answer answer = { .rcode = DNS_REFUSED };
	struct dns_query query;
	enum dns_rcode rcode;
	uint8_t out[512];

	if (size < 2)
		return 0;
	if (len > size - 2)
		len = size - 2;
	if (dns_query_parse(data + 2, len, &query, &rcode) < 0)
		return 0;
	must(strlen(query.text) < sizeof(query.text));
	must(dns_answer_write(&query, &answer, true, out, sizeof(out)) <= sizeof(out));
	if (rcode != DNS_OK || (query.type != DNS_A && query.type != DNS_AAAA) || query.class != 1)
		return 0;
	if (dns_answer_parse(data + 2 + len, size - 2 - len, &query, &answer) == 0)
		check_answer(&query, &answer);
	return 0;
}
