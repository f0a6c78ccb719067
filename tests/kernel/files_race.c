/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* Verdicts while names change, and while the policy does. */
#include "files_scene.h"

#include <linux/fs.h>

#define RACE_NS 2000000000ull

static volatile bool done;

/* w/x is by turns a link to what is denied and a directory of its own. */
static void *swaps(void *arg)
{
	(void)arg;
	while (!done)
		syscall(SYS_renameat2, AT_FDCWD, F("w/x"), AT_FDCWD, F("w/y"), RENAME_EXCHANGE);
	return NULL;
}

static int reads(void *arg)
{
	uint64_t end = clock_boot_ns() + RACE_NS;
	int opened = 0, refused = 0;
	char text[8];
	pthread_t t;

	(void)arg;
	MUST(!pthread_create(&t, NULL, swaps, NULL));
	while (clock_boot_ns() < end) {
		int fd = open(F("w/x/f"), O_RDONLY | O_CLOEXEC);

		if (fd < 0) {
			MUST(errno == EACCES || errno == ENOENT);
			refused++;
			continue;
		}
		MUST(read(fd, text, sizeof(text)) == 4 && !memcmp(text, "open", 4));
		close(fd);
		opened++;
	}
	done = true;
	pthread_join(t, NULL);
	print_message("# opened %d, refused %d\n", opened, refused);
	return opened && refused ? 0 : 1;
}

static void swapping_what_a_path_leads_to_shows_nothing(void **state)
{
	(void)state;
	if (!k)
		skip();
	MUST(!symlink(F("w/deny"), F("w/y")) && !mkdir(F("w/x"), 0755));
	put(F("w/x/f"), "open");
	under_policy(reads);
}

/* ---- published anew -------------------------------------------------------------------------- */

#define THREADS 4

static void *judges(void *arg)
{
	uint64_t end = clock_boot_ns() + RACE_NS;

	while (clock_boot_ns() < end) {
		if (try_open(F("w/f"), O_RDWR))
			++*(int *)arg;
		if (try_open(F("w/deny/f"), O_RDONLY) != -EACCES)
			++*(int *)arg;
		if (try_open(F("w/.env"), O_RDWR | O_CREAT) != -EACCES)
			++*(int *)arg;
	}
	return NULL;
}

static int opens(void *arg)
{
	pthread_t t[THREADS];
	int wrong[THREADS] = { 0 }, sum = 0;

	(void)arg;
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&t[i], NULL, judges, &wrong[i]));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		sum += wrong[i];
	}
	return sum ? 1 : 0;
}

static void a_policy_published_anew_gives_no_wrong_verdict(void **state)
{
	struct err err = { .text = "" };
	struct files_opts how = { 0 };
	struct guarded g;
	siginfo_t info = { 0 };
	int times = 0, rc;

	(void)state;
	if (!k)
		skip();
	guarded_start(&g, k, scene, sizeof(scene) / sizeof(scene[0]), false, opens, NULL);
	how.sandbox = g.tree.id;
	how.pid = g.tree.root;
	while (!info.si_pid) {
		rc = files_publish(&g.files, k, &g.policy, &how, &err);
		MUST(!waitid(P_PID, (id_t)g.tree.root, &info, WEXITED | WNOWAIT | WNOHANG));
		if (!info.si_pid) /* with its end its root directory is gone */
			OK(&err, rc);
		times++;
	}
	print_message("# published %d times\n", times);
	assert_true(times > 2);
	assert_int_equal(guarded_end(&g), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swapping_what_a_path_leads_to_shows_nothing),
		cmocka_unit_test(a_policy_published_anew_gives_no_wrong_verdict),
	};

	return cmocka_run_group_tests(tests, scene_make, scene_unmake);
}
