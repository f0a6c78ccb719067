/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/learn.h"
#include "policy/profile.h"

static const struct file_rule said[] = {
	{ .path = (char *)"/", .written = (char *)"/", .verb = FILE_RO, .directory = true },
	{ .path = (char *)"/h", .written = (char *)"%h", .verb = FILE_RO, .directory = true },
	{ .path = (char *)"/h/.ssh", .written = (char *)"~/.ssh", .verb = FILE_DENY },
	{ .path = (char *)"/h/.config/gh",
	  .written = (char *)"~/.config/gh",
	  .verb = FILE_DENY,
	  .reach = FILE_ABSENT },
	{ .path = (char *)"/vault/keys", .written = (char *)"/vault/keys", .verb = FILE_DENY },
	{ .path = (char *)"/w/dir", .written = (char *)"%d", .verb = FILE_RW, .directory = true },
	{ .path = (char *)"/w/dir/.git/hooks", .written = (char *)".git/hooks", .verb = FILE_RO },
	{ .path = (char *)"/tmp", .written = (char *)"/tmp", .verb = FILE_RW, .directory = true },
	{ .path = (char *)"/box",
	  .written = (char *)"/box",
	  .verb = FILE_NOEXEC,
	  .directory = true },
	{ .path = (char *)".env",
	  .written = (char *)"**/.env",
	  .verb = FILE_DENY,
	  .reach = FILE_ANYWHERE },
};

struct scene {
	struct file_policy policy;
	struct learn *learn;
	struct learn_counts counts;
	struct buf text;
};

static int set_up(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct err err = { 0 };
	struct learn_opts opts = { .policy = &s->policy,
				   .home = "/h",
				   .directory = "/w/dir",
				   .base = "default",
				   .command = "make it",
				   .private_tmp = true };

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		struct file_rule rule = said[i];

		rule.path = strdup(said[i].path);
		rule.written = strdup(said[i].written);
		rule.origin = strdup("here");
		rule.level = FILE_LEVEL_PROFILE;
		if (file_policy_add(&s->policy, &rule, &err) < 0)
			return -1;
	}
	if (files_compile(&s->policy, &err) < 0)
		return -1;
	s->learn = learn_new(&opts);
	*state = s;
	return s->learn ? 0 : -1;
}

static int tear_down(void **state)
{
	struct scene *s = *state;

	learn_free(s->learn);
	file_policy_done(&s->policy);
	buf_done(&s->text);
	free(s);
	return 0;
}

/* "w+ /path": as told by the test of trace; '!' behind the rights: it is gone; a '/' at the end: a directory. */
static void need(struct scene *s, const char *text)
{
	struct learn_need n = { .exists = true };
	const char *at = text;
	char path[4096];
	size_t len;

	for (; *at != ' '; at++) {
		n.right |= *at == 'r' ? FILE_READ : *at == 'w' ? FILE_WRITE : 0;
		n.right |= *at == 'x' ? FILE_EXEC : 0;
		n.entry |= *at == '+';
		n.exists &= *at != '!';
	}
	snprintf(path, sizeof(path), "%s", at + 1);
	len = strlen(path);
	n.directory = path[len - 1] == '/';
	if (n.directory)
		path[len - 1] = '\0';
	n.path = path;
	assert_int_equal(learn_add(s->learn, &n, NULL), 0);
}

/* The lines that are no comment about counts, from [Filesystem] on. */
static void expect(struct scene *s, const char *wanted)
{
	struct err err = { 0 };
	struct profile parsed;
	char lines[8192] = "", *save = NULL, *copy;

	if (learn_text(s->learn, "nobody", 0, &s->text, &s->counts, &err) < 0)
		fail_msg("%s", err.text);
	if (profile_parse(&parsed, "x", NULL, s->text.data, s->text.len, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(parsed.extends, "default");
	profile_done(&parsed);
	copy = strdup(s->text.data);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (!strncmp(line, "# refused", 9) || strchr("WR", *line)) {
			strcat(lines, line);
			strcat(lines, "\n");
		}
	free(copy);
	assert_string_equal(lines, wanted);
}

static void what_the_base_grants_needs_nothing(void **state)
{
	struct scene *s = *state;

	assert_false(learn_wanted(s->learn, "/w/dir/x", FILE_ALL));
	assert_false(learn_wanted(s->learn, "/etc/hosts", FILE_READ | FILE_EXEC));
	assert_false(learn_wanted(s->learn, "/var/tmp/x", FILE_ALL));
	assert_true(learn_wanted(s->learn, "/var/tmpx", FILE_WRITE));
	need(s, "rw+ /w/dir/x");
	need(s, "rw+ /tmp/x");
	need(s, "rx /usr/bin/make");
	expect(s, "");
	assert_string_equal(s->text.data, "# Learnt from: make it\n# Seen by nobody: 0 paths "
					  "beyond default, in 0 places; 0 refused\n"
					  "Extends=default\n");
}

static void one_file_is_learnt_alone_and_several_as_their_directory(void **state)
{
	struct scene *s = *state;

	need(s, "w /a/one/file");
	need(s, "w /a/one/file");
	need(s, "w /a/two/f");
	need(s, "w /a/two/g");
	expect(s, "Write=/a/one/file\nWrite=/a/two\n");
	assert_int_equal(s->counts.needs, 3);
	assert_int_equal(s->counts.places, 2);
}

static void names_that_come_and_go_need_their_directory(void **state)
{
	struct scene *s = *state;

	need(s, "w+ /a/one/new");
	need(s, "w+! /a/two/gone");
	need(s, "w+ /a/three/made/");
	need(s, "w+ /a/three/made/x");
	need(s, "w+ /a/three/made/sub/");
	expect(s, "Write=/a/one\nWrite=/a/three/made\nWrite=/a/two\n");
}

static void places_side_by_side_are_what_they_lie_in(void **state)
{
	struct scene *s = *state;

	need(s, "w+ /a/b/1/x");
	need(s, "w+ /a/b/2/x");
	need(s, "w+ /a/b/3/x");
	need(s, "w+ /a/b/4/x/y/z");
	need(s, "w+ /a/b/4/x");
	need(s, "w+ /opt/1/x");
	need(s, "w+ /opt/2/x");
	need(s, "w+ /opt/3/x");
	need(s, "w+ /opt/4/x");
	expect(s, "Write=/a/b\nWrite=/opt/1\nWrite=/opt/2\nWrite=/opt/3\nWrite=/opt/4\n");
}

static void nobody_gets_a_home_or_a_directory_of_the_system(void **state)
{
	struct scene *s = *state;

	need(s, "w+ /h/.rc");
	need(s, "w+! /h/.rc.tmp");
	need(s, "w+ /h/.cache/");
	need(s, "w+ /h/.cache/app/");
	need(s, "w+ /h/.cache/app/x");
	need(s, "w+! /etc/lock");
	need(s, "w /etc/one");
	need(s, "w+! /home/other/x");
	need(s, "w+! /x");
	expect(s,
	       "Write=/etc/one\nWrite=~/.cache/app\nWrite=~/.rc\n"
	       "# refused to learn: create or remove /x: it takes the whole directory around it\n"
	       "# refused to learn: create or remove /etc/lock: it takes the whole directory "
	       "around it\n"
	       "# refused to learn: create or remove /h/.rc.tmp: it takes the whole directory "
	       "around "
	       "it\n"
	       "# refused to learn: create or remove /home/other/x: it takes the whole directory "
	       "around it\n");
}

static void what_is_denied_stays_so_and_all_above_it(void **state)
{
	struct scene *s = *state;

	need(s, "r /h/.ssh/id");
	need(s, "w+ /h/.ssh/known");
	need(s, "w+ /vault/new");
	need(s, "w+! /vault/gone");
	need(s, "w+ /h/.config/new/");
	need(s, "rw /a/.env");
	expect(s, "Write=~/.config/new\nWrite=/vault/new\n"
		  "# refused to learn: write /a/.env: deny **/.env (here)\n"
		  "# refused to learn: create or remove /h/.ssh/known: deny ~/.ssh (here)\n"
		  "# refused to learn: create or remove /vault/gone: it takes the whole directory "
		  "around "
		  "it\n"
		  "# refused to learn: read /h/.ssh/id: deny ~/.ssh (here)\n");
}

static void what_is_held_back_stays_so(void **state)
{
	struct scene *s = *state;

	need(s, "w+ /w/dir/.git/hooks/pre-commit");
	need(s, "x /box/tool");
	expect(s,
	       "# refused to learn: create or remove /w/dir/.git/hooks/pre-commit: ro .git/hooks "
	       "(here)\n"
	       "# refused to learn: execute /box/tool: noexec /box (here)\n");
}

static void devices_and_the_kernels_files_are_left_out(void **state)
{
	struct scene *s = *state;

	need(s, "rw /dev/kvm");
	need(s, "w /sys/power/state");
	expect(s, "# refused to learn: write /dev/kvm: a device, or the kernel's own\n"
		  "# refused to learn: write /sys/power/state: a device, or the kernel's own\n");
}

static void a_name_is_written_so_that_it_is_read_as_such(void **state)
{
	struct scene *s = *state;

	need(s, "w /a/sp ace/x");
	need(s, "w /b/[x]*?\\/y");
	need(s, "w /c/\303\274/z");
	need(s, "w /d/%d/z");
	need(s, "w /d/\"/z");
	need(s, "w /d/\n/z");
	need(s, "w /d/\377/z");
	expect(s, "Write=\"/a/sp ace/x\"\nWrite=\"/b/\\[x]\\*\\?\\\\/y\"\nWrite=/c/\303\274/z\n"
		  "# refused to learn: write /d/?/z: a profile cannot say its name\n"
		  "# refused to learn: write /d/\"/z: a profile cannot say its name\n"
		  "# refused to learn: write /d/%d/z: a profile cannot say its name\n"
		  "# refused to learn: write /d/?/z: a profile cannot say its name\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(what_the_base_grants_needs_nothing),
		TEST(one_file_is_learnt_alone_and_several_as_their_directory),
		TEST(names_that_come_and_go_need_their_directory),
		TEST(places_side_by_side_are_what_they_lie_in),
		TEST(nobody_gets_a_home_or_a_directory_of_the_system),
		TEST(what_is_denied_stays_so_and_all_above_it),
		TEST(what_is_held_back_stays_so),
		TEST(devices_and_the_kernels_files_are_left_out),
		TEST(a_name_is_written_so_that_it_is_read_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
