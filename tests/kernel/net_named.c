/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses behind names, what is told of refusals, and many connects at once. */
#include "net_scene.h"

#include <sys/un.h>

#include <bpf/bpf.h>

#include "kern/denials.h"
#include "kern/half.h"
#include "policy/net_address.h"

static const char *const by_name[] = { "api.example.org:80", "192.0.2.1:80", NULL };
static const char *const one_host[] = { "192.0.2.1:80", NULL };

/* Waits for a word between its dials: the answers of its resolver come meanwhile. */
struct talk {
	int step; /* shared; the test counts it up */
	int results[4];
};

static void wait_step(const struct talk *t, int step)
{
	while (__atomic_load_n(&t->step, __ATOMIC_SEQ_CST) < step)
		sleep_ms(1);
}

static int dials(void *arg)
{
	struct talk *t = arg;

	for (int i = 0; i < 4; i++) {
		wait_step(t, 2 * i + 1);
		t->results[i] = dial("192.0.2.2", i == 1 ? 81 : 80, SOCK_STREAM);
		__atomic_store_n(&t->step, 2 * i + 2, __ATOMIC_SEQ_CST);
	}
	return 0;
}

static int dial_now(struct talk *t, int i)
{
	__atomic_store_n(&t->step, 2 * i + 1, __ATOMIC_SEQ_CST);
	wait_step(t, 2 * i + 2);
	return t->results[i];
}

static void a_name_admits_its_addresses_until_their_end(void **state)
{
	struct talk *t = shared(sizeof(*t));
	struct under u = { .allow = by_name, .act = dials, .arg = t };
	struct net_policy policy;
	struct net_address address, guarded;
	struct err err = { .text = "" };

	(void)state;
	if (!k)
		skip();
	policy_of(&policy, &u);
	assert_true(net_address_parse("192.0.2.2", &address));
	assert_true(net_address_parse("10.9.9.9", &guarded));
	under_start(&u);
	assert_int_equal(dial_now(t, 0), -EPERM);
	OK(&err, kern_net_add_address(u.net, k, &address, &policy.rules[0],
				      clock_boot_ns() + 3000000000ull, &err));
	assert_int_equal(dial_now(t, 1), -EPERM); /* another port */
	assert_int_equal(dial_now(t, 2), 0);
	OK(&err, kern_net_add_address(u.net, k, &address, &policy.rules[0], 0, &err));
	sleep_ms(3000);
	assert_int_equal(dial_now(t, 3), -EPERM);
	assert_int_equal(kern_net_add_address(u.net, k, &guarded, &policy.rules[0], ~0ull, &err),
			 -EACCES);
	assert_int_equal(under_end(&u), 0);
	net_policy_done(&policy);
}

/* ---- telling ---------------------------------------------------------------------------------------- */

static int tries(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		dial("192.0.2.2", 80, SOCK_STREAM);
	dial("2001:db8::2", 53, SOCK_DGRAM);
	socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	return 0;
}

static int find_row(void *arg, const struct denial *d)
{
	static const struct {
		const char *path;
		enum sbx_act act;
		unsigned int count;
	} rows[] = {
		{ "192.0.2.2:80", SBX_ACT_CONNECT, 3 },
		{ "[2001:db8::2]:53/udp", SBX_ACT_SEND, 1 },
		{ "AF_INET raw, protocol 1", SBX_ACT_SOCKET, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(d->path, rows[i].path) && d->act == rows[i].act &&
		    d->count == rows[i].count && d->net && d->error == EPERM)
			*(unsigned int *)arg |= 1u << i;
	return 0;
}

static const char *no_rule(void *arg, uint32_t index, uint32_t dev)
{
	(void)arg;
	(void)index;
	(void)dev;
	return NULL;
}

static void a_refusal_says_where_to(void **state)
{
	struct under u = { .allow = one_host, .act = tries };
	unsigned int found = 0;
	int status;

	(void)state;
	if (!k)
		skip();
	under_start(&u);
	status = tree_wait(&u.tree);
	assert_int_equal(status, 0);
	assert_int_equal(denials_each(k, u.tree.id, no_rule, find_row, &found), 0);
	assert_int_equal(found, 7);
	denials_forget(k, u.tree.id);
	tree_end(&u.tree);
	kern_net_release(u.net, k);
}

/* ---- many rules ---------------------------------------------------------------------------------------- */

#define RULES 1000

static int one_of_two(void *arg)
{
	(void)arg;
	return dial("192.0.2.1", 80, SOCK_STREAM) != 0 ||
	       dial("192.0.2.2", 80, SOCK_STREAM) != -EPERM;
}

static void a_thousand_rules_come_and_go(void **state)
{
	static char text[RULES][24];
	const char *allow[RULES + 2] = { "192.0.2.1:80" };
	struct under u = { .allow = allow, .act = one_of_two };
	struct sbx_net_key key;
	int rules;

	(void)state;
	if (!k)
		skip();
	for (int i = 0; i < RULES; i++) {
		snprintf(text[i], sizeof(text[i]), "93.%d.%d.0/24:443", i / 250, i % 250);
		allow[i + 1] = text[i];
	}
	under_start(&u);
	rules = half_fd(k, HALF_NET_RULES);
	/* One that is not there any more hides no other. */
	assert_int_equal(bpf_map_get_next_key(rules, NULL, &key), 0);
	assert_int_equal(bpf_map_delete_elem(rules, &key), 0);
	assert_int_equal(under_end(&u), 0);
	assert_int_not_equal(bpf_map_get_next_key(rules, NULL, &key), 0);
	assert_int_equal(errno, ENOENT);
}

/* ---- many at once ------------------------------------------------------------------------------------ */

#define CLIENTS 64
#define CONNECTS 1000

/* Half of them to a door that is open, half to one that is not. */
static int client(void)
{
	for (int i = 0; i < CONNECTS; i++) {
		int rc = dial("192.0.2.1", i % 2 ? 81 : 80, SOCK_DGRAM);

		if (rc != (i % 2 ? -EPERM : 0))
			return 1;
	}
	return 0;
}

static int clients(void *arg)
{
	int status, bad = 0;

	(void)arg;
	for (int i = 0; i < CLIENTS; i++)
		if (!fork())
			_exit(client());
	while (wait(&status) > 0)
		bad += status != 0;
	return bad != 0;
}

static void no_verdict_is_wrong_when_many_ask(void **state)
{
	static const char *const open[] = { "192.0.2.1:80/udp", NULL };
	struct under u = { .allow = open, .act = clients };

	(void)state;
	if (!k)
		skip();
	under_start(&u);
	assert_int_equal(tree_wait(&u.tree), 0);
	assert_int_equal(tree_row(&u.tree).denials, CLIENTS * CONNECTS / 2);
	denials_forget(k, u.tree.id);
	tree_end(&u.tree);
	kern_net_release(u.net, k);
	assert_int_equal(rows_of(k, 0), 0);
}

/* ---- AF_UNIX, where LSM attaches -------------------------------------------------------------------- */

static int unix_dial(const char *name, int type)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0), rc;

	strcpy(to.sun_path + (name[0] == '@'), name + (name[0] == '@'));
	rc = connect(fd, (struct sockaddr *)&to,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name)));
	rc = rc ? -errno : 0;
	close(fd);
	return rc;
}

static int unix_open(const char *name, int type)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	strcpy(at.sun_path + (name[0] == '@'), name + (name[0] == '@'));
	MUST(!bind(fd, (struct sockaddr *)&at,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))));
	MUST(type == SOCK_DGRAM || !listen(fd, 8));
	return fd;
}

static int unix_acts(void *arg)
{
	int pair[2];

	(void)arg;
	unix_open("@sbx-net-inner", SOCK_STREAM);
	MUST(unix_dial("@sbx-net-inner", SOCK_STREAM) == 0);
	MUST(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
	MUST(send(pair[0], "x", 1, 0) == 1);
	MUST(unix_dial("@sbx-net-outer", SOCK_STREAM) == -EPERM);
	MUST(unix_dial("@sbx-net-dgram", SOCK_DGRAM) == -EPERM);
	MUST(unix_dial("/tmp/sbx-net-outer", SOCK_STREAM) == -EPERM);
	return 0;
}

static void unix_sockets_of_others_are_out_of_reach(void **state)
{
	int fds[3];

	(void)state;
	if (!k || !kern_net_lsm(k))
		skip();
	unlink("/tmp/sbx-net-outer");
	fds[0] = unix_open("@sbx-net-outer", SOCK_STREAM);
	fds[1] = unix_open("@sbx-net-dgram", SOCK_DGRAM);
	fds[2] = unix_open("/tmp/sbx-net-outer", SOCK_STREAM);
	assert_int_equal(unix_dial("/tmp/sbx-net-outer", SOCK_STREAM), 0);
	assert_int_equal(under(one_host, unix_acts, NULL), 0);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	unlink("/tmp/sbx-net-outer");
}

static int make_scene(void **state)
{
	net_scene_make(state);
	open_door("192.0.2.1", 80, SOCK_STREAM);
	open_door("192.0.2.2", 80, SOCK_STREAM);
	open_door("10.9.9.9", 80, SOCK_STREAM);
	doors_open();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_admits_its_addresses_until_their_end),
		cmocka_unit_test(a_refusal_says_where_to),
		cmocka_unit_test(a_thousand_rules_come_and_go),
		cmocka_unit_test(no_verdict_is_wrong_when_many_ask),
		cmocka_unit_test(unix_sockets_of_others_are_out_of_reach),
	};

	return cmocka_run_group_tests(tests, make_scene, net_scene_unmake);
}
