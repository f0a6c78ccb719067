/* SPDX-License-Identifier: Apache-2.0 */
/* What git in a working directory gets, on repositories made by hand. Needs no kernel feature. */
#include "paths_test.h"

static void make_git(const char *dir)
{
	static const char *const parts[] = { "HEAD", "objects/", "refs/", "config", "hooks/" };

	for (size_t i = 0; i < COUNT(parts); i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", dir, parts[i]);
		make(path, "");
	}
}

static struct policy work_in(const char *directory)
{
	return resolve_in("h", directory,
			  SAID({ FILE_RO, "/", PROFILE }, { FILE_RW, "%d", PROFILE }));
}

static void a_work_tree_makes_its_git_directory_writable(void **state)
{
	struct policy p;

	(void)state;
	make_git("h/w/.git");
	make("h/w/sub/dir/", "");
	p = work_in("h/w/sub/dir");
	expect(&p, "h/w/sub/dir", FILE_RW, FILE_OBJECT);
	expect(&p, "h/w/.git", FILE_RW, FILE_OBJECT);
	expect(&p, "h/w/.git/hooks", FILE_RO, FILE_OBJECT);
	expect(&p, "h/w/.git/config", FILE_RO, FILE_OBJECT);
	/* Else `commondir` would lead git to somebody's own configuration. */
	expect(&p, "h/w/.git/commondir", FILE_RO, FILE_ENTRY);
	expect_none(&p, "h/w");
	file_policy_done(&p.rules);

	/* A home that is a work tree, too: protected, not opened. */
	make_git("h/.git");
	p = work_in("h");
	expect(&p, "h/.git/hooks", FILE_RO, FILE_OBJECT);
	expect_none(&p, "h/.git");
	file_policy_done(&p.rules);
}

static void a_linked_worktree_opens_what_it_shares(void **state)
{
	char text[2 * PATH_MAX];
	struct policy p;

	(void)state;
	make_git("main/.git");
	snprintf(text, sizeof(text), "gitdir: %s/main/.git/worktrees/w\n", top);
	make("h/w/.git", text);
	snprintf(text, sizeof(text), "%s/h/w/.git\n", top);
	make("main/.git/worktrees/w/gitdir", text);
	make("main/.git/worktrees/w/commondir", "../..\n");
	make("main/.git/worktrees/w/HEAD", "");
	p = work_in("h/w");
	expect(&p, "main/.git", FILE_RW, FILE_OBJECT);
	expect(&p, "main/.git/worktrees/w", FILE_RW, FILE_OBJECT);
	expect(&p, "main/.git/worktrees/w/commondir", FILE_RO, FILE_OBJECT);
	expect(&p, "main/.git/hooks", FILE_RO, FILE_OBJECT);
	file_policy_done(&p.rules);

	/* One that does not point back is somebody else's. */
	make("elsewhere/.git", "gitdir: of another tree\n");
	snprintf(text, sizeof(text), "%s/elsewhere/.git\n", top);
	make("main/.git/worktrees/w/gitdir", text);
	p = work_in("h/w");
	expect_none(&p, "main/.git");
	expect_none(&p, "main/.git/worktrees/w");
	file_policy_done(&p.rules);
}

static void a_submodule_opens_its_own_git_directory(void **state)
{
	struct policy p;

	(void)state;
	make_git("h/w/.git");
	make_git("h/w/.git/modules/group/m");
	make("h/w/.git/modules/group/m/config", "[core]\n\tworktree = ../../../../lib/m\n");
	make("h/w/lib/m/.git", "gitdir: ../../.git/modules/group/m\n");
	p = work_in("h/w/lib/m");
	expect(&p, "h/w/.git/modules/group/m", FILE_RW, FILE_OBJECT);
	expect(&p, "h/w/.git/modules/group/m/hooks", FILE_RO, FILE_OBJECT);
	expect_none(&p, "h/w/.git");
	file_policy_done(&p.rules);

	p = work_in("h/w");
	expect(&p, "h/w/.git/modules/group/m/config", FILE_RO, FILE_OBJECT);
	expect(&p, "h/w/.git/modules/group/m/hooks", FILE_RO, FILE_OBJECT);
	file_policy_done(&p.rules);

	make("h/w/lib/other/.git", "gitdir: ../../.git/modules/group/m\n");
	p = work_in("h/w/lib/other");
	expect_none(&p, "h/w/.git/modules/group/m");
	file_policy_done(&p.rules);
}

static void a_forged_git_opens_nothing(void **state)
{
	char text[2 * PATH_MAX];
	struct policy p;

	(void)state;
	make("h/w/.git/something", "");
	make("h/w/sub/", "");
	p = work_in("h/w/sub");
	expect_none(&p, "h/w/.git");
	file_policy_done(&p.rules);
	MUST(unlink("h/w/.git/something") == 0 && rmdir("h/w/.git") == 0);

	make_git("other/.git");
	make("h/.ssh/key", "");
	snprintf(text, sizeof(text), "gitdir: %s/h/.ssh\n", top);
	make("h/w/.git", text);
	p = work_in("h/w");
	expect_none(&p, "h/.ssh");
	file_policy_done(&p.rules);
	snprintf(text, sizeof(text), "gitdir: %s/other/.git\n", top);
	make("h/w/.git", text);
	p = work_in("h/w");
	expect_none(&p, "other/.git");
	file_policy_done(&p.rules);
	MUST(unlink("h/w/.git") == 0 && symlink("../../other/.git", "h/w/.git") == 0);
	p = work_in("h/w");
	expect_none(&p, "other/.git");
	file_policy_done(&p.rules);
}

static void repositories_to_come_and_nearby_ones_are_protected(void **state)
{
	struct policy p;

	(void)state;
	make_git("h/w/one/.git");
	make_git("h/w/bare.git");
	p = work_in("h/w");
	expect(&p, "h/w/.git/hooks", FILE_RO, FILE_ABSENT);
	expect(&p, "h/w/.git/config", FILE_RO, FILE_ABSENT);
	expect(&p, "h/w/one/.git/hooks", FILE_RO, FILE_OBJECT);
	file_policy_done(&p.rules);
	p = work_in("h/w/bare.git");
	expect(&p, "h/w/bare.git/hooks", FILE_RO, FILE_OBJECT);
	expect(&p, "h/w/bare.git", FILE_RW, FILE_OBJECT);
	file_policy_done(&p.rules);

	/* Whoever names them wins. */
	p = resolve_in("h", "h/w/one",
		       SAID({ FILE_RW, "%d", PROFILE }, { FILE_RW, "%d/.git/hooks", PROFILE },
			    { FILE_RW, ".git/config", CLI }));
	expect(&p, "h/w/one/.git/hooks", FILE_RW, FILE_OBJECT);
	expect(&p, "h/w/one/.git/config", FILE_RW, FILE_OBJECT);
	file_policy_done(&p.rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_work_tree_makes_its_git_directory_writable),
		TEST(a_linked_worktree_opens_what_it_shares),
		TEST(a_submodule_opens_its_own_git_directory),
		TEST(a_forged_git_opens_nothing),
		TEST(repositories_to_come_and_nearby_ones_are_protected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
