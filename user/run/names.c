/* SPDX-License-Identifier: Apache-2.0 */
#include "run/names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/own.h"
#include "policy/net_address.h"
#include "run/state.h"

#define RESTRICTION "network_restriction"
#define RESOLV_CONF "/etc/resolv.conf"
#define STUB_RULES 2 /* UDP and TCP */
#define SECOND_NS 1000000000ULL

const struct net_policy *names_policy(const struct run *run)
{
	return run->network.names.asked ? &run->network.names.policy : &run->spec->net;
}

/* ---- the start ---------------------------------------------------------------------------------- */

/* The rules are the spec's, but for the last two. */
static int add_stub(struct names *n, const struct net_policy *policy, struct err *err)
{
	static const char origin[] = "the resolver";
	size_t count = policy->rule_count;

	n->policy = *policy;
	n->policy.rules = calloc(count + STUB_RULES, sizeof(*policy->rules));
	if (!n->policy.rules)
		return err_set(err, -ENOMEM, "host names");
	memcpy(n->policy.rules, policy->rules, count * sizeof(*policy->rules));
	for (size_t i = 0; i < STUB_RULES; i++)
		n->policy.rules[count + i] = (struct net_rule){
			.address = n->resolver.address,
			.prefix = 32,
			.protocol = i ? NET_TCP : NET_UDP,
			.first = RESOLVER_PORT,
			.last = RESOLVER_PORT,
			.origin = (char *)origin,
		};
	n->policy.rule_count = count + STUB_RULES;
	return 0;
}

/* No search list: what a name becomes by it no rule has. */
static int write_file(struct run *run, struct err *err)
{
	struct names *n = &run->network.names;
	own_fd fd = rundir_create_file(&run->dir, "resolv.conf", err);
	char text[160], address[NET_ADDRESS_TEXT];
	int rc;

	if (fd < 0)
		return fd;
	net_address_text(&n->resolver.address, address);
	snprintf(text, sizeof(text), "nameserver %s\nsearch .\noptions edns0 timeout:6\n", address);
	rc = io_write_all(fd, text, strlen(text));
	if (rc == 0 && fchmod(fd, 0644) < 0)
		rc = -errno;
	snprintf(n->file, sizeof(n->file), "%s/resolv.conf", run->dir.path);
	return rc < 0 ? err_set(err, rc, "write '%s'", n->file) : 0;
}

static int cover_file(struct run *run, struct err *err)
{
	struct names *n = &run->network.names;

	if (!realpath(RESOLV_CONF, n->target))
		return err_cannot(err, RESTRICTION,
				  "host names: " RESOLV_CONF " is not there, so the tree cannot be "
				  "told whom to ask; create it");
	run->confinement.binds[run->mounts.bind_count++] =
		(struct mounts_bind){ .source = n->file, .target = n->target, .read_only = true };
	return 0;
}

static void on_words(void *arg, uint32_t events);

static int listen_to(struct run *run, struct err *err)
{
	struct names *n = &run->network.names;

	n->source =
		(struct loop_source){ .fd = n->resolver.channel, .ready = on_words, .arg = run };
	return loop_add(run->loop, &n->source, EPOLLIN, err);
}

int names_start(struct run *run, struct err *err)
{
	struct names *n = &run->network.names;
	int rc;

	if (run->spec->net.mode != NET_ALLOW || !net_policy_has_names(&run->spec->net))
		return 0;
	rc = resolver_start(&n->resolver, &run->spec->net, err);
	n->asked = rc == 0;
	if (rc == 0)
		rc = add_stub(n, &run->spec->net, err);
	if (rc == 0)
		rc = write_file(run, err);
	if (rc == 0)
		rc = cover_file(run, err);
	return rc < 0 ? rc : listen_to(run, err);
}

/* ---- what the resolver says ---------------------------------------------------------------------- */

static struct names_known *known_as(const struct names *n, const struct net_address *address)
{
	for (size_t i = 0; i < n->known_count; i++)
		if (!memcmp(&n->known[i].address, address, sizeof(*address)))
			return &n->known[i];
	return NULL;
}

/* For the record: no room is no fault. */
static void remember(struct names *n, const struct net_address *address, const char *name)
{
	struct names_known *known = known_as(n, address);

	if (!known) {
		if (!n->known)
			n->known = calloc(NAMES_KNOWN_MAX, sizeof(*n->known));
		if (!n->known)
			return;
		known = &n->known[n->known_next];
		n->known_next = (n->known_next + 1) % NAMES_KNOWN_MAX;
		n->known_count += n->known_count < NAMES_KNOWN_MAX;
	}
	known->address = *address;
	snprintf(known->name, sizeof(known->name), "%s", name);
}

/* All addresses, by every rule that has the name; those of guarded ranges by their own rules, or the answer is
 * no answer. */
static bool admit(struct run *run, const struct resolver_word *word)
{
	uint64_t most = RESOLVER_TTL_MAX + RESOLVER_MARGIN;
	uint64_t seconds = word->seconds < most ? word->seconds : most;
	uint64_t until = clock_boot_ns() + seconds * SECOND_NS;
	const struct net_rule *rule;
	size_t at = 0;
	bool any = false;

	while ((rule = net_name_admitted(&run->spec->net, word->name, &at))) {
		any = true;
		for (uint32_t i = 0; i < word->address_count; i++) {
			const struct net_address *a = &word->addresses[i];

			if (dns_rebinds(&run->spec->net, a))
				return false;
			if (!net_guarded(a) && network_admit(run, a, rule, until) < 0)
				return false;
			remember(&run->network.names, a, word->name);
		}
	}
	return any;
}

static void refuse(struct run *run, const struct resolver_word *word)
{
	struct names *n = &run->network.names;
	struct net_address where = { 0 };
	struct names_refused *r = n->refused;

	if (word->kind == RESOLVER_REBOUND)
		where = word->addresses[0];
	n->refused_total++;
	for (; r < n->refused + n->refused_count; r++)
		if (!strcmp(r->name, word->name) && !memcmp(&r->address, &where, sizeof(where)))
			break;
	if (r == n->refused + NAMES_REFUSED_MAX)
		return;
	if (!r->count++) {
		n->refused_count++;
		r->first_ns = clock_boot_ns();
		r->address = where;
		memcpy(r->name, word->name, sizeof(r->name));
		run->confinement.denied_news = true;
	}
}

static void on_words(void *arg, uint32_t events)
{
	struct run *run = arg;
	struct names *n = &run->network.names;
	struct resolver_word word;
	int more = 1;

	(void)events;
	while (more > 0 && (more = resolver_next(&n->resolver, &word)) > 0) {
		if (word.kind == RESOLVER_FOUND)
			resolver_agree(&n->resolver, admit(run, &word));
		else if (word.kind == RESOLVER_REFUSED || word.kind == RESOLVER_REBOUND)
			refuse(run, &word);
		else if (word.kind == RESOLVER_FAILED)
			snprintf(n->failed, sizeof(n->failed),
				 "the host's name servers did not answer for %s: %s", word.name,
				 word.why);
	}
	if (more < 0)
		loop_del(run->loop, &n->source);
	confinement_tell(run);
}

/* ---- the record ---------------------------------------------------------------------------------- */

static int fill(const struct names_refused *r, struct denied_item *item)
{
	char address[NET_ADDRESS_TEXT] = "", *object = NULL, *hint = NULL;

	if (r->address.version)
		net_address_text(&r->address, address);
	if (asprintf(&object, address[0] ? "%s, which leads to %s" : "%s", r->name, address) < 0 ||
	    asprintf(&hint, "--allow-net %s", address[0] ? address : r->name) < 0)
		return -ENOMEM;
	if (!address[0] && (strchr(r->name, '\\') || !r->name[0]))
		hint[0] = '\0'; /* no option takes such a name */
	*item = (struct denied_item){ .act = "resolve",
				      .object = object,
				      .rule = strdup("--net allow"),
				      .hint = hint,
				      .error = EACCES,
				      .count = r->count,
				      .first_ns = r->first_ns };
	return item->rule ? 0 : -ENOMEM;
}

/* An address may change, what was meant does not: the hint has the name. */
static int tell_name(const struct names *n, struct denied_item *item)
{
	const struct names_known *known = known_as(n, &item->address);
	const char *port = strrchr(item->object, ':');

	if (!known)
		return 0;
	item->name = strdup(known->name);
	if (!item->name)
		return -ENOMEM;
	if (!port || strncmp(item->hint, "--allow-net ", strlen("--allow-net ")))
		return 0;
	free(item->hint);
	return asprintf(&item->hint, "--allow-net %s%s", known->name, port) < 0 ? -ENOMEM : 0;
}

int names_denied(const struct names *names, struct denied *out)
{
	struct denied_item *items;
	int rc = 0;

	out->total += names->refused_total;
	for (size_t i = 0; rc == 0 && i < out->count; i++)
		rc = tell_name(names, &out->items[i]);
	if (rc < 0 || !names->refused_count)
		return rc;
	items = reallocarray(out->items, out->count + names->refused_count, sizeof(*items));
	if (!items)
		return -ENOMEM;
	out->items = items;
	for (size_t i = 0; rc == 0 && i < names->refused_count; i++) {
		rc = fill(&names->refused[i], &items[out->count]);
		out->count += rc == 0;
	}
	out->from_hook = true;
	return rc;
}

void names_stop(struct run *run)
{
	struct names *n = &run->network.names;

	if (!n->asked)
		return;
	loop_del(run->loop, &n->source);
	resolver_stop(&n->resolver);
	free(n->policy.rules);
	free(n->known);
	n->known = NULL;
	n->known_count = n->known_next = 0;
	n->policy.rules = NULL;
	n->policy.rule_count = 0;
	n->asked = false;
}
