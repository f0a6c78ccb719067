/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/dns.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/net_address.h"

#define HEADER 12
#define POINTER 0xc0
#define JUMPS_MAX 128 /* of a compressed name */
#define UDP_PLAIN 512 /* without EDNS */
#define TOO_MANY (DNS_ALIASES_MAX + 1)

enum { FLAG_ANSWER = 0x8000, FLAG_CUT = 0x0200, FLAG_WANTED = 0x0100, FLAG_OFFERED = 0x0080 };
enum { OPCODE = 0x7800, RCODE = 0x000f };
enum { TYPE_CNAME = 5, TYPE_OPT = 41, CLASS_IN = 1 };

struct reader {
	const uint8_t *bytes;
	size_t len, at;
	bool bad; /* something was beyond the end, or nonsense */
};

static uint16_t get_16(struct reader *r)
{
	uint16_t value;

	if (r->len - r->at < 2) {
		r->bad = true;
		r->at = r->len;
		return 0;
	}
	value = (uint16_t)(r->bytes[r->at] << 8 | r->bytes[r->at + 1]);
	r->at += 2;
	return value;
}

static uint32_t get_32(struct reader *r)
{
	uint32_t high = get_16(r);

	return high << 16 | get_16(r);
}

static void skip(struct reader *r, size_t count)
{
	r->bad |= r->len - r->at < count;
	r->at = r->bad ? r->len : r->at + count;
}

/* ---- names ------------------------------------------------------------------------------------ */

/* One label at *at; false at its end or when it is bad. */
static bool get_label(struct reader *r, size_t at, struct dns_name *name)
{
	size_t n = r->bytes[at];

	if (n >= 64 || r->len - at - 1 < n || name->len + 1 + n > DNS_NAME_BYTES) {
		r->bad = true;
		return false;
	}
	memcpy(name->bytes + name->len, r->bytes + at, n + 1);
	name->len = (uint8_t)(name->len + n + 1);
	return n > 0;
}

/* Pointers lead backwards only, so that every name ends. */
static void get_name(struct reader *r, struct dns_name *name)
{
	size_t at = r->at, least = r->at;
	bool followed = false;

	name->len = 0;
	for (int jumps = 0; jumps < JUMPS_MAX && at < r->len;) {
		if (r->bytes[at] < POINTER) {
			bool more = get_label(r, at, name);

			at += 1 + (size_t)r->bytes[at];
			if (more)
				continue;
			if (!followed && !r->bad)
				r->at = at;
			return;
		}
		if (r->len - at < 2)
			break;
		if (!followed)
			r->at = at + 2;
		followed = true;
		at = (size_t)(r->bytes[at] & 0x3f) << 8 | r->bytes[at + 1];
		if (at >= least)
			break;
		least = at;
		jumps++;
	}
	r->bad = true;
}

static bool same_name(const struct dns_name *a, const struct dns_name *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (tolower(a->bytes[i]) != tolower(b->bytes[i]))
			return false;
	return true;
}

/* A dot inside of a label must not look like one between two. */
static void text_of(const struct dns_name *name, char text[DNS_NAME_TEXT])
{
	char *p = text;

	for (size_t at = 0; name->bytes[at]; at += 1 + (size_t)name->bytes[at]) {
		if (at)
			*p++ = '.';
		for (size_t i = 1; i <= name->bytes[at]; i++) {
			uint8_t c = name->bytes[at + i];

			if (c < 0x80 && (isalnum(c) || c == '-' || c == '_'))
				*p++ = (char)tolower(c);
			else
				p += sprintf(p, "\\%03u", c);
		}
	}
	*p = '\0';
}

/* ---- what may be handed on -------------------------------------------------------------------- */

bool dns_rebinds(const struct net_policy *policy, const struct net_address *address)
{
	if (!net_guarded(address))
		return false;
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct net_rule *rule = &policy->rules[i];

		if (!rule->name &&
		    net_address_admitted(policy, address, rule->protocol, rule->first))
			return false;
	}
	return true;
}

/* ---- queries ---------------------------------------------------------------------------------- */

struct header {
	uint16_t flags, questions, answers, others, additions;
};

static struct header get_header(struct reader *r, uint16_t *id)
{
	struct header h;

	*id = get_16(r);
	h.flags = get_16(r);
	h.questions = get_16(r);
	h.answers = get_16(r);
	h.others = get_16(r);
	h.additions = get_16(r);
	return h;
}

/* The size in an OPT record among what is added; whatever else is there is of no interest. */
static void get_edns(struct reader *r, unsigned int records, struct dns_query *query)
{
	for (unsigned int i = 0; i < records && !r->bad; i++) {
		struct dns_name owner;
		uint16_t type, class;

		get_name(r, &owner);
		type = get_16(r);
		class = get_16(r);
		skip(r, 4);
		skip(r, get_16(r));
		if (type == TYPE_OPT && !r->bad) {
			query->edns = true;
			query->udp_bytes = class;
		}
	}
}

int dns_query_parse(const uint8_t *bytes, size_t len, struct dns_query *query,
		    enum dns_rcode *rcode)
{
	struct reader r = { .bytes = bytes, .len = len };
	struct header h;

	*query = (struct dns_query){ .udp_bytes = UDP_PLAIN };
	h = get_header(&r, &query->id);
	if (r.bad || h.flags & FLAG_ANSWER)
		return -EBADMSG;
	query->recursion = h.flags & FLAG_WANTED;
	*rcode = h.flags & OPCODE ? DNS_NOTIMP : DNS_FORMERR;
	if (h.flags & OPCODE || h.questions != 1 || h.answers)
		return 0;
	get_name(&r, &query->name);
	query->type = get_16(&r);
	query->class = get_16(&r);
	get_edns(&r, (unsigned int)h.others + h.additions, query);
	if (r.bad) {
		query->name.len = 0;
		return 0;
	}
	text_of(&query->name, query->text);
	*rcode = DNS_OK;
	return 0;
}

/* ---- what the upstream said ------------------------------------------------------------------- */

struct record {
	struct dns_name owner;
	uint16_t type, class, len;
	uint32_t ttl;
	size_t at; /* of its data */
};

static bool get_record(struct reader *r, struct record *record)
{
	get_name(r, &record->owner);
	record->type = get_16(r);
	record->class = get_16(r);
	record->ttl = get_32(r);
	record->len = get_16(r);
	record->at = r->at;
	skip(r, record->len);
	if (record->ttl > INT32_MAX)
		record->ttl = 0; /* RFC 2181, 8 */
	return !r->bad;
}

static void lower_ttl(struct dns_answer *answer, const struct record *record)
{
	if (record->ttl < answer->ttl)
		answer->ttl = record->ttl;
}

/* The alias of `name`; false: there is none. Records may stand in any order. */
static bool next_alias(struct reader r, unsigned int records, const struct dns_name *name,
		       struct dns_answer *answer)
{
	struct record record;

	for (unsigned int i = 0; i < records && get_record(&r, &record); i++) {
		struct reader data = { .bytes = r.bytes, .len = r.len, .at = record.at };

		if (record.type != TYPE_CNAME || record.class != CLASS_IN ||
		    !same_name(&record.owner, name))
			continue;
		if (answer->alias_count < DNS_ALIASES_MAX)
			get_name(&data, &answer->aliases[answer->alias_count]);
		if (answer->alias_count == DNS_ALIASES_MAX || data.bad) {
			answer->alias_count = TOO_MANY;
			return false;
		}
		answer->alias_count++;
		lower_ttl(answer, &record);
		return true;
	}
	return false;
}

static void add_address(struct dns_answer *answer, const struct record *record, const uint8_t *data)
{
	size_t wanted = record->type == DNS_A ? 4 : 16;

	if (record->len != wanted || answer->address_count == DNS_ADDRESSES_MAX)
		return;
	answer->addresses[answer->address_count++] =
		record->type == DNS_A ? net_address_v4(data) : net_address_v6(data);
	lower_ttl(answer, record);
}

int dns_answer_parse(const uint8_t *bytes, size_t len, const struct dns_query *query,
		     struct dns_answer *answer)
{
	struct reader r = { .bytes = bytes, .len = len };
	const struct dns_name *last = &query->name;
	struct dns_name asked;
	struct record record;
	struct header h;
	uint16_t id;

	*answer = (struct dns_answer){ .ttl = INT32_MAX };
	h = get_header(&r, &id);
	answer->rcode = (enum dns_rcode)(h.flags & RCODE);
	if (r.bad || !(h.flags & FLAG_ANSWER) || h.flags & FLAG_CUT || h.questions != 1)
		return -EBADMSG;
	get_name(&r, &asked);
	if (get_16(&r) != query->type || get_16(&r) != query->class || r.bad ||
	    !same_name(&asked, &query->name))
		return -EBADMSG;
	while (next_alias(r, h.answers, last, answer))
		last = &answer->aliases[answer->alias_count - 1];
	if (answer->alias_count == TOO_MANY)
		return -EBADMSG;
	for (unsigned int i = 0; i < h.answers && get_record(&r, &record); i++)
		if (record.type == query->type && record.class == CLASS_IN &&
		    same_name(&record.owner, last))
			add_address(answer, &record, bytes + record.at);
	return r.bad ? -EBADMSG : 0;
}

/* ---- answers ---------------------------------------------------------------------------------- */

struct writer {
	uint8_t *bytes;
	size_t size, at;
	bool full;
};

static void put(struct writer *w, const void *bytes, size_t len)
{
	if (w->full || w->size - w->at < len) {
		w->full = true;
		return;
	}
	memcpy(w->bytes + w->at, bytes, len);
	w->at += len;
}

static void put_16(struct writer *w, unsigned int value)
{
	const uint8_t bytes[] = { (uint8_t)(value >> 8), (uint8_t)value };

	put(w, bytes, sizeof(bytes));
}

static void put_record_head(struct writer *w, size_t owner, unsigned int type, uint32_t ttl,
			    size_t len)
{
	put_16(w, (unsigned int)(POINTER << 8 | owner));
	put_16(w, type);
	put_16(w, CLASS_IN);
	put_16(w, ttl >> 16);
	put_16(w, ttl & 0xffff);
	put_16(w, (unsigned int)len);
}

/* Each alias is spelled out where it stands, and what follows points there. */
static unsigned int put_records(struct writer *w, const struct dns_answer *answer)
{
	size_t owner = HEADER;
	unsigned int count = 0;

	for (size_t i = 0; i < answer->alias_count; i++, count++) {
		put_record_head(w, owner, TYPE_CNAME, answer->ttl, answer->aliases[i].len);
		owner = w->at;
		put(w, answer->aliases[i].bytes, answer->aliases[i].len);
	}
	for (size_t i = 0; i < answer->address_count; i++, count++) {
		const struct net_address *a = &answer->addresses[i];
		bool four = a->version == 4;

		put_record_head(w, owner, four ? DNS_A : DNS_AAAA, answer->ttl, four ? 4 : 16);
		put(w, a->bytes, four ? 4 : 16);
	}
	return count;
}

static void put_edns(struct writer *w)
{
	static const uint8_t record[] = {
		0, 0, TYPE_OPT, DNS_UDP_MAX >> 8, DNS_UDP_MAX & 0xff, 0, 0, 0, 0, 0, 0
	};

	put(w, record, sizeof(record));
}

static void put_header(uint8_t *out, const struct dns_query *query, unsigned int flags,
		       unsigned int records)
{
	struct writer w = { .bytes = out, .size = HEADER };

	put_16(&w, query->id);
	put_16(&w, flags);
	put_16(&w, query->name.len ? 1 : 0);
	put_16(&w, records);
	put_16(&w, 0);
	put_16(&w, query->edns ? 1 : 0);
}

static size_t most_bytes(const struct dns_query *query, bool udp, size_t size)
{
	size_t most = query->udp_bytes < UDP_PLAIN ? UDP_PLAIN : query->udp_bytes;

	if (most > DNS_UDP_MAX)
		most = DNS_UDP_MAX;
	return udp && most < size ? most : size;
}

size_t dns_answer_write(const struct dns_query *query, const struct dns_answer *answer, bool udp,
			uint8_t *out, size_t size)
{
	struct writer w = { .bytes = out, .size = most_bytes(query, udp, size), .at = HEADER };
	unsigned int flags = FLAG_ANSWER | FLAG_OFFERED | (query->recursion ? FLAG_WANTED : 0) |
			     (unsigned int)answer->rcode;
	unsigned int records;
	size_t behind_question;

	if (query->name.len) {
		put(&w, query->name.bytes, query->name.len);
		put_16(&w, query->type);
		put_16(&w, query->class);
	}
	behind_question = w.at;
	records = put_records(&w, answer);
	if (query->edns)
		put_edns(&w);
	if (w.full) {
		flags |= FLAG_CUT;
		records = 0;
		w.full = false;
		w.at = behind_question;
		if (query->edns)
			put_edns(&w);
	}
	put_header(out, query, flags, records);
	return w.at;
}
