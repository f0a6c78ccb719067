/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question goes this way: read (UDP, or a client of TCP), parsed, admitted by name or refused; answered
 * from the cache, or asked upstream. What the upstream says is parsed, addresses of guarded ranges are
 * taken out, the keeper admits the rest, and then the answer leaves. Everything is non-blocking but the
 * keeper's word, which comes from memory.
 */
#include "kern/resolver_serve.h"

#include <ares.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "kern/resolver_tcp.h"

#define AGREE_MS 5000
#define BATCH 64 /* datagrams before anything else is looked at */
#define FOREVER_MS 3600000

struct cached {
	uint64_t until_ms; /* 0: empty */
	uint16_t type;
	char name[NET_NAME_MAX + 1];
	struct dns_answer answer;
};

struct resolver_serve {
	const struct net_policy *policy;
	struct resolver_fds fds;
	ares_channel upstream;
	struct resolver_tcp tcp;
	size_t pending;
	bool ended; /* the keeper is gone */
	struct cached cache[RESOLVER_CACHE_ROWS];
};

/* Whom an answer goes to. */
struct asker {
	struct resolver_serve *serve;
	struct dns_query query;
	struct sockaddr_in from; /* over UDP */
	uint64_t client;	 /* over TCP, 0: UDP */
};

static uint64_t now_ms(void)
{
	return clock_boot_ns() / 1000000;
}

/* ---- answers ------------------------------------------------------------------------------------ */

static void reply(const struct asker *a, const struct dns_answer *answer)
{
	struct resolver_serve *s = a->serve;
	uint8_t out[4096];
	size_t len = dns_answer_write(&a->query, answer, !a->client, out, sizeof(out));

	/* A datagram that does not fit the client's buffer is lost, as any may be. */
	if (a->client)
		resolver_tcp_send(&s->tcp, a->client, out, len);
	else if (sendto(s->fds.udp, out, len, MSG_NOSIGNAL, (const struct sockaddr *)&a->from,
			sizeof(a->from)) < 0)
		return;
}

static void reply_code(const struct asker *a, enum dns_rcode rcode)
{
	const struct dns_answer answer = { .rcode = rcode };

	reply(a, &answer);
}

/* ---- the keeper --------------------------------------------------------------------------------- */

static void say(struct resolver_serve *s, struct resolver_word *word, const char *name)
{
	memccpy(word->name, name, '\0', sizeof(word->name) - 1);
	if (send(s->fds.channel, word, sizeof(*word), MSG_NOSIGNAL) != sizeof(*word))
		s->ended = true;
}

static void tell(struct resolver_serve *s, enum resolver_kind kind, const char *name,
		 const char *why)
{
	struct resolver_word word = { .kind = kind };

	memccpy(word.why, why, '\0', sizeof(word.why) - 1);
	say(s, &word, name);
}

static uint32_t admitted_for(uint32_t ttl)
{
	uint32_t seconds = ttl < RESOLVER_TTL_MIN ? RESOLVER_TTL_MIN : ttl;

	return (seconds > RESOLVER_TTL_MAX ? RESOLVER_TTL_MAX : seconds) + RESOLVER_MARGIN;
}

/* Waits for the keeper's word: the answer must not be faster than what it allows. */
static bool agreed(struct resolver_serve *s, const struct asker *a, const struct dns_answer *answer)
{
	struct pollfd p = { .fd = s->fds.channel, .events = POLLIN };
	struct resolver_word word = { .kind = RESOLVER_FOUND,
				      .seconds = admitted_for(answer->ttl),
				      .address_count = (uint32_t)answer->address_count };
	char verdict = 'n';

	memcpy(word.addresses, answer->addresses, sizeof(word.addresses));
	say(s, &word, a->query.text);
	if (s->ended || poll(&p, 1, AGREE_MS) != 1 ||
	    recv(s->fds.channel, &verdict, 1, MSG_DONTWAIT) != 1)
		s->ended =
			true; /* out of step, or gone: a late word would be taken for another's */
	return verdict == 'y';
}

/* ---- the cache ---------------------------------------------------------------------------------- */

static struct cached *row_of(struct resolver_serve *s, const struct dns_query *query)
{
	uint32_t hash = 2166136261u ^ query->type;

	for (const char *p = query->text; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	return &s->cache[hash % RESOLVER_CACHE_ROWS];
}

static bool answer_from_cache(const struct asker *a)
{
	struct cached *row = row_of(a->serve, &a->query);
	uint64_t now = now_ms();
	struct dns_answer answer;

	if (row->until_ms <= now || row->type != a->query.type ||
	    strcmp(row->name, a->query.text) != 0)
		return false;
	answer = row->answer;
	answer.ttl = (uint32_t)((row->until_ms - now) / 1000);
	reply(a, &answer);
	return true;
}

static void remember(const struct asker *a, const struct dns_answer *answer)
{
	struct cached *row = row_of(a->serve, &a->query);

	if (!answer->ttl)
		return;
	row->until_ms = now_ms() + (uint64_t)answer->ttl * 1000;
	row->type = a->query.type;
	strcpy(row->name, a->query.text); /* an admitted name is no longer */
	row->answer = *answer;
}

/* ---- upstream ----------------------------------------------------------------------------------- */

/* False: nothing is left, and something was taken out. */
static bool drop_guarded(const struct asker *a, struct dns_answer *answer)
{
	struct resolver_word word = { .kind = RESOLVER_REBOUND, .address_count = 1 };
	size_t kept = 0;

	for (size_t i = 0; i < answer->address_count; i++) {
		if (!dns_rebinds(a->serve->policy, &answer->addresses[i]))
			answer->addresses[kept++] = answer->addresses[i];
		else
			word.addresses[0] = answer->addresses[i];
	}
	if (kept == answer->address_count)
		return true;
	answer->address_count = kept;
	say(a->serve, &word, a->query.text);
	return kept > 0;
}

static void answer_with(const struct asker *a, struct dns_answer *answer)
{
	if (answer->ttl > RESOLVER_TTL_MAX)
		answer->ttl = answer->address_count ? RESOLVER_TTL_MAX : 0;
	if (!drop_guarded(a, answer)) {
		reply_code(a, DNS_REFUSED);
	} else if (answer->address_count && !agreed(a->serve, a, answer)) {
		reply_code(a, DNS_SERVFAIL);
	} else {
		if (answer->address_count)
			remember(a, answer);
		reply(a, answer);
	}
}

static void upstream_said(void *arg, int status, int timeouts, unsigned char *bytes, int len)
{
	own_mem struct asker *a = arg;
	struct dns_answer answer;

	(void)timeouts;
	a->serve->pending--;
	if (status == ARES_EDESTRUCTION)
		return;
	if (bytes && dns_answer_parse(bytes, (size_t)len, &a->query, &answer) == 0 &&
	    (answer.rcode == DNS_OK || answer.rcode == DNS_NXDOMAIN)) {
		answer_with(a, &answer);
		return;
	}
	tell(a->serve, RESOLVER_FAILED, a->query.text,
	     status == ARES_SUCCESS ? "a bad answer" : ares_strerror(status));
	reply_code(a, DNS_SERVFAIL);
}

static void ask_upstream(const struct asker *a)
{
	struct resolver_serve *s = a->serve;
	struct asker *kept = s->pending < RESOLVER_PENDING_MAX ? malloc(sizeof(*kept)) : NULL;

	if (!kept) {
		reply_code(a, DNS_SERVFAIL);
		return;
	}
	*kept = *a;
	s->pending++;
	ares_query(s->upstream, a->query.text, 1, a->query.type, upstream_said, kept);
}

/* ---- questions ---------------------------------------------------------------------------------- */

static void question(struct asker *a, const uint8_t *bytes, size_t len)
{
	struct resolver_serve *s = a->serve;
	enum dns_rcode rcode;
	size_t at = 0;

	a->serve = s;
	if (dns_query_parse(bytes, len, &a->query, &rcode) < 0)
		return;
	if (rcode != DNS_OK) {
		reply_code(a, rcode);
	} else if (a->query.class != 1 || !net_name_admitted(s->policy, a->query.text, &at)) {
		tell(s, RESOLVER_REFUSED, a->query.text, "");
		reply_code(a, DNS_REFUSED);
	} else if (a->query.type != DNS_A && a->query.type != DNS_AAAA) {
		reply_code(a, DNS_OK); /* the name is there, with nothing of that type */
	} else if (!answer_from_cache(a)) {
		ask_upstream(a);
	}
}

static void tcp_question(void *arg, uint64_t client, const uint8_t *bytes, size_t len)
{
	struct asker a = { .serve = arg, .client = client };

	question(&a, bytes, len);
}

static void udp_questions(struct resolver_serve *s)
{
	uint8_t bytes[4096];

	for (int i = 0; i < BATCH && !s->ended; i++) {
		struct asker a = { .serve = s };
		socklen_t size = sizeof(a.from);
		ssize_t n = recvfrom(s->fds.udp, bytes, sizeof(bytes), MSG_DONTWAIT,
				     (struct sockaddr *)&a.from, &size);

		if (n < 0)
			return;
		question(&a, bytes, (size_t)n);
	}
}

/* ---- the loop ----------------------------------------------------------------------------------- */

/* c-ares brings its ares_getnameinfo along, which nobody calls. With glibc's own, which loads shared libraries
 * when it runs, a static program would be none. */
int resolver_serve_no_service(int port, const char *proto, struct servent *space, char *buf,
			      size_t size, struct servent **result) __asm__("getservbyport_r");

int resolver_serve_no_service(int port, const char *proto, struct servent *space, char *buf,
			      size_t size, struct servent **result)
{
	(void)port, (void)proto, (void)space, (void)buf, (void)size;
	*result = NULL;
	return ENOENT;
}

struct resolver_serve *resolver_serve_new(const struct net_policy *policy,
					  const struct resolver_fds *fds)
{
	struct ares_options options = { .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES |
						 ARES_FLAG_EDNS | ARES_FLAG_NOCHECKRESP,
					.timeout = RESOLVER_UPSTREAM_MS,
					.tries = RESOLVER_UPSTREAM_TRIES };
	struct resolver_serve *s = calloc(1, sizeof(*s));

	if (!s || ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS ||
	    ares_init_options(&s->upstream, &options,
			      ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES) !=
		    ARES_SUCCESS) {
		free(s);
		return NULL;
	}
	s->policy = policy;
	s->fds = *fds;
	resolver_tcp_init(&s->tcp, fds->tcp, tcp_question, s);
	return s;
}

static size_t add_upstream(const struct resolver_serve *s, struct pollfd *p)
{
	ares_socket_t sockets[ARES_GETSOCK_MAXNUM];
	int bits = ares_getsock(s->upstream, sockets, ARES_GETSOCK_MAXNUM);
	size_t n = 0;

	for (int i = 0; i < ARES_GETSOCK_MAXNUM; i++) {
		short events = (short)((ARES_GETSOCK_READABLE(bits, i) ? POLLIN : 0) |
				       (ARES_GETSOCK_WRITABLE(bits, i) ? POLLOUT : 0));

		if (events)
			p[n++] = (struct pollfd){ .fd = sockets[i], .events = events };
	}
	return n;
}

static void serve_upstream(struct resolver_serve *s, const struct pollfd *p, size_t count)
{
	const short any = POLLERR | POLLHUP;
	bool served = false;

	for (size_t i = 0; i < count; i++) {
		if (!p[i].revents)
			continue;
		served = true;
		ares_process_fd(s->upstream,
				p[i].revents & (POLLIN | any) ? p[i].fd : ARES_SOCKET_BAD,
				p[i].revents & (POLLOUT | any) ? p[i].fd : ARES_SOCKET_BAD);
	}
	if (!served) /* what timed out */
		ares_process_fd(s->upstream, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

static int next_timeout_ms(const struct resolver_serve *s)
{
	struct timeval most = { .tv_sec = FOREVER_MS / 1000 }, until;
	int idle = resolver_tcp_timeout_ms(&s->tcp), upstream;

	ares_timeout(s->upstream, &most, &until);
	upstream = (int)(until.tv_sec * 1000 + until.tv_usec / 1000 + 1);
	return idle < upstream ? idle : upstream;
}

void resolver_serve_run(struct resolver_serve *s)
{
	enum { CHANNEL, UDP, OTHERS };
	struct pollfd p[OTHERS + RESOLVER_TCP_POLLS + ARES_GETSOCK_MAXNUM];

	while (!s->ended) {
		size_t tcp, upstream;

		p[CHANNEL] = (struct pollfd){ .fd = s->fds.channel, .events = POLLIN };
		p[UDP] = (struct pollfd){ .fd = s->fds.udp, .events = POLLIN };
		tcp = resolver_tcp_polls(&s->tcp, p + OTHERS);
		upstream = add_upstream(s, p + OTHERS + tcp);
		if (poll(p, OTHERS + tcp + upstream, next_timeout_ms(s)) < 0 && errno != EINTR)
			return;
		if (p[CHANNEL].revents) /* it speaks only when it is asked */
			return;
		serve_upstream(s, p + OTHERS + tcp, upstream);
		if (p[UDP].revents)
			udp_questions(s);
		resolver_tcp_serve(&s->tcp, p + OTHERS, tcp);
	}
}
