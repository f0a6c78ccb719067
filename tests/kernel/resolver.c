/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 60 */
/* The resolver's process against dnsmasq, in namespaces of the test's own; the test is its keeper. */
#include "must.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/io.h"
#include "kern/netns.h"
#include "kern/resolver.h"
#include "policy/net_address.h"

#define WORD_MS 15000

static pid_t upstream;
static struct net_policy policy;

static void run_upstream(void)
{
	static const char *const words[] = { "dnsmasq",
					     "-k",
					     "-C",
					     "/dev/null",
					     "-R",
					     "-h",
					     "-u",
					     "root",
					     "-p",
					     "53",
					     "-a",
					     "127.0.0.1",
					     "-z",
					     "-x",
					     "",
					     "--log-facility=/dev/null",
					     "--local-ttl=120",
					     "--host-record=ok.example,93.184.216.34,2606:2800::1",
					     "--cname=alias.example,deep.example",
					     "--cname=deep.example,ok.example",
					     "--address=/rebind.example/127.0.0.1",
					     "--address=/inside.example/10.1.2.3" };
	static char many[32][64];
	char *argv[64];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		argv[n++] = (char *)words[i];
	for (int i = 1; i <= 32; i++) {
		snprintf(many[i - 1], sizeof(many[0]), "--host-record=many.example,2606:2800::%x",
			 i);
		argv[n++] = many[i - 1];
	}
	argv[n] = NULL;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp("dnsmasq", argv);
	_exit(77);
}

/* Whether somebody listens on UDP port 53 there by now. */
static bool answers(void)
{
	char table[4096];

	return io_read_file(-1, "/proc/net/udp", table, sizeof(table)) > 0 &&
	       strstr(table, "0100007F:0035");
}

static int start_upstream(void)
{
	upstream = fork();
	if (upstream == 0)
		run_upstream();
	for (int i = 0; i < 500; i++, sleep_ms(10)) {
		if (waitpid(upstream, NULL, WNOHANG) == upstream) {
			upstream = 0;
			return -1;
		}
		if (answers())
			return 0;
	}
	return -1;
}

static int make_world(void **state)
{
	char file[] = "/tmp/sbx-resolver-XXXXXX", what[MOUNTS_WHAT];
	struct err err = { 0 };
	int fd = mkstemp(file);

	(void)state;
	MUST(fd >= 0 && fchmod(fd, 0644) == 0 && write(fd, "nameserver 127.0.0.1\n", 21) == 21);
	MUST(netns_enter(what) == 0 && unshare(CLONE_NEWNS) == 0);
	MUST(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	MUST(mount(file, "/etc/resolv.conf", NULL, MS_BIND, NULL) == 0);
	close(fd);
	MUST(unlink(file) == 0);
	policy.mode = NET_ALLOW;
	OK(&err, net_policy_allow(&policy, "*.example:443", "--allow-net", 100, &err));
	OK(&err, net_policy_allow(&policy, "10.1.0.0/16:443", "--allow-net", 100, &err));
	if (start_upstream() == 0)
		return 0;
	print_message("no dnsmasq here\n");
	return 0;
}

static int end_world(void **state)
{
	(void)state;
	net_policy_done(&policy);
	if (upstream > 0) {
		kill(upstream, SIGKILL);
		waitpid(upstream, NULL, 0);
	}
	return 0;
}

/* ---- one question ------------------------------------------------------------------------------- */

struct talk {
	struct resolver r;
	int fd;
	bool tcp;
	struct dns_query query;
};

static void begin(struct talk *t)
{
	struct err err = { 0 };

	if (upstream <= 0)
		skip();
	OK(&err, resolver_start(&t->r, &policy, &err));
	t->fd = -1;
	t->tcp = false;
}

static void end(struct talk *t)
{
	if (t->fd >= 0)
		close(t->fd);
	resolver_stop(&t->r);
}

static void dial(struct talk *t)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(RESOLVER_PORT) };

	if (t->fd >= 0)
		close(t->fd);
	memcpy(&to.sin_addr, t->r.address.bytes, 4);
	t->fd = socket(AF_INET, t->tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
	MUST(t->fd >= 0 && connect(t->fd, (struct sockaddr *)&to, sizeof(to)) == 0);
}

static void ask(struct talk *t, const char *name, uint16_t type)
{
	uint8_t m[300] = { 0, 0, 9, 9, 1, 0, 0, 1 }, *p = m + 14;
	enum dns_rcode rcode;
	size_t len;

	while (*name) {
		size_t n = strcspn(name, ".");

		*p++ = (uint8_t)n;
		memcpy(p, name, n);
		p += n;
		name += n + (name[n] == '.');
	}
	*p++ = 0;
	*p++ = 0;
	*p++ = (uint8_t)type;
	*p++ = 0;
	*p++ = 1;
	len = (size_t)(p - m) - 2;
	m[1] = (uint8_t)len;
	MUST(dns_query_parse(m + 2, len, &t->query, &rcode) == 0 && rcode == DNS_OK);
	dial(t);
	MUST(t->tcp ? write(t->fd, m, len + 2) > 0 : write(t->fd, m + 2, len) > 0);
}

static struct resolver_word next_word(struct talk *t)
{
	struct pollfd p = { .fd = t->r.channel, .events = POLLIN };
	struct resolver_word word;

	MUST(poll(&p, 1, WORD_MS) == 1);
	MUST(resolver_next(&t->r, &word) == 1);
	return word;
}

/* The answer; its rcode, or -1: it is cut. */
static int hear(struct talk *t, struct dns_answer *answer)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };
	const ssize_t skipped = t->tcp ? 2 : 0; /* its length */
	uint8_t m[8192];
	ssize_t n;

	MUST(poll(&p, 1, WORD_MS) == 1);
	n = read(t->fd, m, sizeof(m));
	MUST(n >= 12 + skipped && !(m[skipped + 2] & 2 && t->tcp));
	if (m[skipped + 2] & 2)
		return -1;
	MUST(dns_answer_parse(m + skipped, (size_t)n - (size_t)skipped, &t->query, answer) == 0);
	return (int)answer->rcode;
}

static bool silent(const struct talk *t)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };

	return poll(&p, 1, 200) == 0;
}

/* ---- what it does ------------------------------------------------------------------------------- */

static void the_keeper_hears_first(void **state)
{
	struct resolver_word word;
	struct dns_answer answer;
	struct talk t;

	(void)state;
	begin(&t);
	ask(&t, "OK.example", DNS_A);
	word = next_word(&t);
	assert_int_equal(word.kind, RESOLVER_FOUND);
	assert_string_equal(word.name, "ok.example");
	assert_int_equal(word.address_count, 1);
	assert_memory_equal(word.addresses[0].bytes, "\x5d\xb8\xd8\x22", 4);
	assert_in_range(word.seconds, RESOLVER_TTL_MIN, RESOLVER_TTL_MAX + RESOLVER_MARGIN);
	assert_true(silent(&t));
	resolver_agree(&t.r, true);
	assert_int_equal(hear(&t, &answer), DNS_OK);
	assert_int_equal(answer.address_count, 1);
	assert_in_range(answer.ttl, 0, word.seconds - RESOLVER_MARGIN);
	ask(&t, "ok.example", DNS_A); /* from memory: nothing is said anew */
	assert_int_equal(hear(&t, &answer), DNS_OK);
	assert_int_equal(answer.address_count, 1);
	assert_int_equal(resolver_next(&t.r, &word), 0);
	end(&t);
}

static void without_its_word_there_is_no_answer(void **state)
{
	struct dns_answer answer;
	struct talk t;

	(void)state;
	begin(&t);
	ask(&t, "ok.example", DNS_AAAA);
	assert_int_equal(next_word(&t).kind, RESOLVER_FOUND);
	resolver_agree(&t.r, false);
	assert_int_equal(hear(&t, &answer), DNS_SERVFAIL);
	end(&t);
}

static void other_names_are_refused_and_told(void **state)
{
	static const char *const names[] = { "example", "ok.example.org", "okexample", "" };
	struct resolver_word word;
	struct dns_answer answer;
	struct talk t;

	(void)state;
	begin(&t);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ask(&t, names[i], DNS_A);
		word = next_word(&t);
		assert_int_equal(word.kind, RESOLVER_REFUSED);
		assert_string_equal(word.name, names[i]);
		assert_int_equal(hear(&t, &answer), DNS_REFUSED);
	}
	end(&t);
}

static void a_name_that_leads_inside_is_refused_and_told(void **state)
{
	struct resolver_word word;
	struct dns_answer answer;
	struct talk t;

	(void)state;
	begin(&t);
	ask(&t, "rebind.example", DNS_A);
	word = next_word(&t);
	assert_int_equal(word.kind, RESOLVER_REBOUND);
	assert_memory_equal(word.addresses[0].bytes, "\x7f\0\0\x01", 4);
	assert_int_equal(hear(&t, &answer), DNS_REFUSED);
	ask(&t, "inside.example", DNS_A); /* an address rule names where it leads */
	word = next_word(&t);
	assert_int_equal(word.kind, RESOLVER_FOUND);
	resolver_agree(&t.r, true);
	assert_int_equal(hear(&t, &answer), DNS_OK);
	end(&t);
}

static void aliases_come_with_their_address(void **state)
{
	struct dns_answer answer;
	struct talk t;

	(void)state;
	begin(&t);
	ask(&t, "alias.example", DNS_A);
	assert_int_equal(next_word(&t).address_count, 1);
	resolver_agree(&t.r, true);
	assert_int_equal(hear(&t, &answer), DNS_OK);
	assert_int_equal(answer.alias_count, 2);
	assert_int_equal(answer.address_count, 1);
	end(&t);
}

static void many_addresses_come_over_tcp(void **state)
{
	struct dns_answer answer;
	struct talk t;

	(void)state;
	begin(&t);
	ask(&t, "many.example", DNS_AAAA);
	assert_int_equal(next_word(&t).address_count, 32);
	resolver_agree(&t.r, true);
	assert_int_equal(hear(&t, &answer), -1);
	t.tcp = true;
	ask(&t, "many.example", DNS_AAAA);
	assert_int_equal(hear(&t, &answer), DNS_OK);
	assert_int_equal(answer.address_count, 32);
	end(&t);
}

static void it_has_no_rights(void **state)
{
	char path[64], status[4096];
	struct talk t;

	(void)state;
	begin(&t);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)t.r.pid);
	MUST(io_read_file(-1, path, status, sizeof(status)) > 0);
	assert_non_null(strstr(status, "\nUid:\t65534\t65534\t65534\t65534\n"));
	assert_non_null(strstr(status, "\nCapPrm:\t0000000000000000\n"));
	assert_non_null(strstr(status, "\nNoNewPrivs:\t1\n"));
	assert_non_null(strstr(status, "\nSeccomp:\t2\n"));
	assert_non_null(strstr(status, "\nGroups:\t \n"));
	end(&t);
	assert_int_equal(kill(t.r.pid, 0), -1);
}

static void it_ends_with_its_keeper(void **state)
{
	pid_t *pid = shared(sizeof(*pid)), keeper;
	struct err err = { 0 };

	(void)state;
	if (upstream <= 0)
		skip();
	keeper = fork();
	if (keeper == 0) {
		struct resolver r;

		OK(&err, resolver_start(&r, &policy, &err));
		*pid = r.pid;
		_exit(0);
	}
	MUST(waitpid(keeper, NULL, 0) == keeper && *pid > 0);
	for (int i = 0; i < 500 && kill(*pid, 0) == 0; i++)
		sleep_ms(10);
	assert_int_equal(kill(*pid, 0), -1);
}

/* Last: it takes the upstream away. */
static void an_upstream_that_is_gone_is_told(void **state)
{
	struct resolver_word word;
	struct dns_answer answer;
	struct talk t;

	(void)state;
	begin(&t);
	kill(upstream, SIGKILL);
	waitpid(upstream, NULL, 0);
	upstream = 0;
	ask(&t, "ok.example", DNS_A);
	word = next_word(&t);
	assert_int_equal(word.kind, RESOLVER_FAILED);
	assert_true(word.why[0] != '\0');
	assert_int_equal(hear(&t, &answer), DNS_SERVFAIL);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_keeper_hears_first),
		cmocka_unit_test(without_its_word_there_is_no_answer),
		cmocka_unit_test(other_names_are_refused_and_told),
		cmocka_unit_test(a_name_that_leads_inside_is_refused_and_told),
		cmocka_unit_test(aliases_come_with_their_address),
		cmocka_unit_test(many_addresses_come_over_tcp),
		cmocka_unit_test(it_has_no_rights),
		cmocka_unit_test(it_ends_with_its_keeper),
		cmocka_unit_test(an_upstream_that_is_gone_is_told),
	};

	return cmocka_run_group_tests(tests, make_world, end_world);
}
