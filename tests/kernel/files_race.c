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

struct judged {
	int asked, wrong;
};

static void *judges(void *arg)
{
	uint64_t end = clock_boot_ns() + RACE_NS;
	struct judged *j = arg;

	for (; clock_boot_ns() < end; j->asked += 3) {
		j->wrong += try_open(F("w/f"), O_RDWR) != 0;
		j->wrong += try_open(F("w/deny/f"), O_RDONLY) != -EACCES;
		j->wrong += try_open(F("w/.env"), O_RDWR | O_CREAT) != -EACCES;
	}
	return NULL;
}

static int opens(void *arg)
{
	pthread_t t[THREADS];
	struct judged each[THREADS] = { 0 }, sum = { 0 };

	(void)arg;
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&t[i], NULL, judges, &each[i]));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		sum.asked += each[i].asked;
		sum.wrong += each[i].wrong;
	}
	print_message("# %d opens, %d judged wrong\n", sum.asked, sum.wrong);
	return sum.wrong || !sum.asked;
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
		if (rc) /* its root directory may be gone a moment before it is */
			usleep(200000);
		MUST(!waitid(P_PID, (id_t)g.tree.root, &info, WEXITED | WNOWAIT | WNOHANG));
		if (!info.si_pid)
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
