/* SPDX-License-Identifier: Apache-2.0 */
/* What was refused is counted exactly, and told in words. Sandboxes inside one another. */
#include "files_scene.h"

#define STORM 25000
#define THREADS 4

/* ---- rows ----------------------------------------------------------------------------------- */

struct seen {
	const struct file_policy *policy;
	const char *path; /* looked for */
	struct denial found;
	size_t rows;
};

static const char *rule_path(void *arg, uint32_t index, uint32_t dev)
{
	struct seen *s = arg;

	(void)dev;
	return index < s->policy->count ? s->policy->rules[index].path : NULL;
}

static int look(void *arg, const struct denial *d)
{
	struct seen *s = arg;

	s->rows++;
	if (!strcmp(d->path, s->path))
		s->found = *d;
	else
		print_message("# %s %s, rule %u, %llu times\n", denials_act_name(d->act), d->path,
			      d->rule, (unsigned long long)d->count);
	return 0;
}

static void find_denial(const struct guarded *g, const char *path, struct seen *out)
{
	*out = (struct seen){ .policy = &g->policy, .path = path };
	assert_int_equal(denials_each(k, g->tree.id, rule_path, look, out), 0);
}

static int told(void *arg)
{
	(void)arg;
	try_open(F("w/deny/f"), O_RDONLY);
	try_open(F("w/deny/f"), O_RDONLY);
	try_open(F("r/f"), O_RDWR);
	try_open(F("w/.env"), O_WRONLY | O_CREAT);
	try_open(F("w/d/ro/one/two/a-name-that-is-longer-than-any-rule-may-have-it"), O_RDONLY);
	unlink(F("w/ro/f"));
	rename(F("w/d"), F("w/e"));
	return 0;
}

static void wait_for_end(struct guarded *g)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)g->tree.root, &info, WEXITED | WNOWAIT), 0);
}

static void a_refusal_is_told_with_path_rule_and_count(void **state)
{
	uint64_t total, dropped;
	struct guarded g;
	struct seen s;

	(void)state;
	if (!k)
		skip();
	guarded_start(&g, k, scene, sizeof(scene) / sizeof(scene[0]), false, told, NULL);
	wait_for_end(&g);
	find_denial(&g, F("w/deny/f"), &s);
	assert_int_equal(s.found.count, 2);
	assert_int_equal(s.found.act, SBX_ACT_READ);
	assert_int_equal(s.found.error, EACCES);
	assert_string_equal(rule_path(&s, s.found.rule, 0), F("w/deny"));
	find_denial(&g, F("r/f"), &s);
	assert_int_equal(s.found.act, SBX_ACT_WRITE);
	assert_string_equal(rule_path(&s, s.found.rule, 0), "/");
	find_denial(&g, F("w/.env"), &s);
	assert_int_equal(s.found.act, SBX_ACT_CREATE);
	find_denial(&g, F("w/ro/f"), &s);
	assert_int_equal(s.found.act, SBX_ACT_REMOVE);
	find_denial(&g, F("w/d"), &s);
	assert_int_equal(s.found.error, EBUSY);
	assert_int_equal(denials_total(k, g.tree.id, &total, &dropped), 0);
	assert_int_equal(total, 6);
	assert_int_equal(dropped, 0);
	guarded_end(&g);
}

/* ---- a storm -------------------------------------------------------------------------------- */

static void *opens(void *arg)
{
	for (int i = 0; i < STORM; i++)
		if (try_open(F("w/deny/f"), O_RDONLY) != -EACCES)
			++*(int *)arg;
	return NULL;
}

static int storm(void *arg)
{
	pthread_t t[THREADS];
	int wrong[THREADS] = { 0 }, sum = 0;

	(void)arg;
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&t[i], NULL, opens, &wrong[i]));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		sum += wrong[i];
	}
	return sum ? 1 : 0;
}

static void a_storm_is_counted_to_the_last(void **state)
{
	uint64_t total, dropped;
	struct guarded g;
	struct seen s;

	(void)state;
	if (!k)
		skip();
	guarded_start(&g, k, scene, sizeof(scene) / sizeof(scene[0]), false, storm, NULL);
	wait_for_end(&g);
	find_denial(&g, F("w/deny/f"), &s);
	assert_int_equal(s.found.count, STORM * THREADS);
	assert_int_equal(denials_total(k, g.tree.id, &total, &dropped), 0);
	assert_int_equal(total, STORM * THREADS);
	assert_int_equal(guarded_end(&g), 0);
}

static int many_kinds(void *arg)
{
	char path[128];

	(void)arg;
	for (int i = 0; i < 2 * SBX_MAX_DENIALS_PER_SANDBOX; i++) {
		snprintf(path, sizeof(path), F("r/%d"), i);
		ANSWERS(-EACCES, try_open(path, O_WRONLY | O_CREAT));
	}
	return 0;
}

static void what_has_no_row_is_counted_as_dropped(void **state)
{
	uint64_t total, dropped;
	struct guarded g;
	struct seen s;

	(void)state;
	if (!k)
		skip();
	guarded_start(&g, k, scene, sizeof(scene) / sizeof(scene[0]), false, many_kinds, NULL);
	wait_for_end(&g);
	assert_int_equal(denials_total(k, g.tree.id, &total, &dropped), 0);
	assert_int_equal(total, 2 * SBX_MAX_DENIALS_PER_SANDBOX);
	assert_int_equal(dropped, SBX_MAX_DENIALS_PER_SANDBOX);
	s = (struct seen){ .policy = &g.policy, .path = F("r/0") };
	assert_int_equal(guarded_end(&g), 0);
	assert_int_equal(denials_each(k, g.tree.id, rule_path, look, &s), 0);
	assert_int_equal(s.rows, 0); /* forgotten with the sandbox */
}

/* ---- audit ---------------------------------------------------------------------------------- */

static int audited(void *arg)
{
	(void)arg;
	ANSWERS(0, try_open(F("w/deny/f"), O_RDONLY));
	return 0;
}

static void an_audit_logs_and_allows(void **state)
{
	struct guarded g;
	struct seen s;

	(void)state;
	if (!k)
		skip();
	guarded_start(&g, k, scene, sizeof(scene) / sizeof(scene[0]), true, audited, NULL);
	wait_for_end(&g);
	find_denial(&g, F("w/deny/f"), &s);
	assert_int_equal(s.found.count, 1);
	assert_true(s.found.audit);
	assert_int_equal(guarded_end(&g), 0);
}

/* ---- nested --------------------------------------------------------------------------------- */

static int inner(void *arg)
{
	(void)arg;
	ANSWERS(-EACCES, try_open(F("w/deny/f"), O_RDONLY)); /* the outer one's */
	ANSWERS(-EACCES, try_open(F("w/f"), O_RDWR));	     /* its own */
	ANSWERS(0, try_open(F("w/f"), O_RDONLY));
	return 0;
}

static int outer(void *arg)
{
	static const struct line rules[] = { { FILE_RW, "/", FILE_OBJECT },
					     { FILE_RO, "w", FILE_OBJECT } };

	(void)arg;
	ANSWERS(0, try_open(F("w/f"), O_RDWR));
	return GUARDED(k, rules, inner, NULL);
}

static void an_inner_policy_only_narrows(void **state)
{
	(void)state;
	under_policy(outer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusal_is_told_with_path_rule_and_count),
		cmocka_unit_test(a_storm_is_counted_to_the_last),
		cmocka_unit_test(what_has_no_row_is_counted_as_dropped),
		cmocka_unit_test(an_audit_logs_and_allows),
		cmocka_unit_test(an_inner_policy_only_narrows),
	};

	return cmocka_run_group_tests(tests, scene_make, scene_unmake);
}
