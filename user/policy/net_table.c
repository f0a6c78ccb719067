/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "policy/net_address.h"
#include "policy/net_table.h"

/* What is around comes before what is within. */
static int compare_places(const struct net_address *a, unsigned int a_prefix,
			  const struct net_address *b, unsigned int b_prefix)
{
	int order = (int)a->version - (int)b->version;

	if (!order)
		order = memcmp(a->bytes, b->bytes, sizeof(a->bytes));
	return order ? order : (int)a_prefix - (int)b_prefix;
}

static int by_place(const void *a, const void *b)
{
	const struct net_rule *one = *(const struct net_rule *const *)a;
	const struct net_rule *other = *(const struct net_rule *const *)b;

	return compare_places(&one->address, one->prefix, &other->address, other->prefix);
}

static int by_port(const void *a, const void *b)
{
	const struct net_range *one = a, *other = b;
	int order = (int)one->protocol - (int)other->protocol;

	return order ? order : (int)one->first - (int)other->first;
}

size_t net_ranges_join(struct net_range *ranges, size_t count)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), by_port);
	for (size_t i = 0; i < count; i++) {
		struct net_range *last = kept ? &ranges[kept - 1] : NULL;

		if (last && last->protocol == ranges[i].protocol &&
		    ranges[i].first <= (uint32_t)last->last + 1) {
			if (ranges[i].last > last->last)
				last->last = ranges[i].last;
		} else {
			ranges[kept++] = ranges[i];
		}
	}
	return kept;
}

/* ---- places ----------------------------------------------------------------------------------------- */

/* Guards stand among the rules as rules without ports. */
struct places {
	const struct net_rule **list;
	struct net_rule *guards;
	size_t count, guard_count;
};

static bool is_cut(const struct net_policy *policy, const struct net_guard *guard)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct net_rule *rule = &policy->rules[i];

		if (!rule->name && rule->prefix < guard->prefix &&
		    net_address_within(&guard->address, &rule->address, rule->prefix))
			return true;
	}
	return false;
}

static int places_make(struct places *p, const struct net_policy *policy)
{
	size_t count;
	const struct net_guard *guards = net_guards(&count);

	p->list = calloc(policy->rule_count + count, sizeof(struct net_rule *));
	p->guards = calloc(count, sizeof(*p->guards));
	if (!p->list || !p->guards)
		return -ENOMEM;
	for (size_t i = 0; i < policy->rule_count; i++)
		if (!policy->rules[i].name)
			p->list[p->count++] = &policy->rules[i];
	for (size_t i = 0; i < count; i++) {
		if (!is_cut(policy, &guards[i]))
			continue;
		p->guards[p->guard_count] = (struct net_rule){ .address = guards[i].address,
							       .prefix = guards[i].prefix };
		p->list[p->count++] = &p->guards[p->guard_count++];
	}
	qsort(p->list, p->count, sizeof(*p->list), by_place);
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The narrowest guarded range around a whole network. */
static unsigned int guard_prefix(const struct net_row *row)
{
	size_t count;
	const struct net_guard *guards = net_guards(&count);
	unsigned int prefix = 0;

	for (size_t i = 0; i < count; i++)
		if (guards[i].prefix <= row->prefix && guards[i].prefix > prefix &&
		    net_address_within(&row->address, &guards[i].address, guards[i].prefix))
			prefix = guards[i].prefix;
	return prefix;
}

/* The nearest row around it, counted from 1: rows are sorted, so it is the last one, or around that. */
static size_t around(const struct net_table *table, const struct net_row *row)
{
	size_t at = table->count;

	while (at) {
		const struct net_row *outer = &table->rows[at - 1];

		if (net_address_within(&row->address, &outer->address, outer->prefix))
			break;
		at = outer->outer;
	}
	return at;
}

/* Rules on one place become one row. */
static int add_row(struct net_table *table, const struct net_rule *const *rules, size_t count,
		   struct err *err)
{
	struct net_row *row = &table->rows[table->count];
	const struct net_row *outer;
	own_mem struct net_range *ranges = calloc(count + NET_TABLE_RANGES, sizeof(*ranges));
	char text[NET_ADDRESS_TEXT];
	size_t n = 0;

	if (!ranges)
		return err_set(err, -ENOMEM, "make the network policy");
	row->address = rules[0]->address;
	row->prefix = rules[0]->prefix;
	row->outer = around(table, row);
	outer = row->outer ? &table->rows[row->outer - 1] : NULL;
	if (outer && outer->prefix >= guard_prefix(row))
		for (; n < outer->count; n++)
			ranges[n] = outer->ranges[n];
	for (size_t i = 0; i < count; i++)
		if (rules[i]->first)
			ranges[n++] = (struct net_range){ rules[i]->protocol, rules[i]->first,
							  rules[i]->last };
	n = net_ranges_join(ranges, n);
	net_address_text(&row->address, text);
	if (n > NET_TABLE_RANGES)
		return err_say(err, ERR_VALIDATION, -E2BIG,
			       "%s/%u: rules name more than %d ranges of ports there", text,
			       row->prefix, NET_TABLE_RANGES);
	memcpy(row->ranges, ranges, n * sizeof(*ranges));
	row->count = n;
	table->count++;
	return 0;
}

static int add_rows(struct net_table *table, const struct places *p, struct err *err)
{
	size_t at = 0;
	int r = 0;

	table->rows = calloc(p->count + 1, sizeof(*table->rows));
	if (!table->rows)
		return err_set(err, -ENOMEM, "make the network policy");
	while (at < p->count && !r) {
		size_t end = at + 1;

		while (end < p->count && !by_place(&p->list[at], &p->list[end]))
			end++;
		r = add_row(table, p->list + at, end - at, err);
		at = end;
	}
	return r;
}

int net_table_make(struct net_table *table, const struct net_policy *policy, struct err *err)
{
	struct places p = { 0 };
	int r = places_make(&p, policy);

	*table = (struct net_table){ 0 };
	if (r < 0)
		err_set(err, r, "make the network policy");
	else
		r = add_rows(table, &p, err);
	free(p.list);
	free(p.guards);
	if (r < 0)
		net_table_done(table);
	return r;
}

void net_table_done(struct net_table *table)
{
	free(table->rows);
	*table = (struct net_table){ 0 };
}
