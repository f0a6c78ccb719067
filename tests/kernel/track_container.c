/* SPDX-License-Identifier: Apache-2.0 */
/* In a pid namespace of its own, as in a container, numbers mean other processes to the kernel
 * half. */
#include "keeper.h"

#include <sched.h>
#include <sys/mount.h>

static void *sleeper(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

static int family(void *arg)
{
	pthread_t t;

	(void)arg;
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			setsid();
			return pause();
		}
	if (pthread_create(&t, NULL, sleeper, NULL))
		return 1;
	return pause();
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(pause());
	return pid;
}

/* ---- what process 1 of the namespace checks -------------------------------------------------- */

static void check_members(struct kern *k)
{
	const struct kern_sandbox_opts opts = { .keeper_owns = true };
	pid_t bystander = start_sleeper();
	uint64_t label = 1;
	int pidfd = (int)syscall(SYS_pidfd_open, bystander, 0);
	struct tree t;

	tree_start(&t, k, &opts, family, NULL);
	tree_wait_live(&t, 5);
	MUST(tree_row(&t).root_pid != (uint32_t)t.root); /* or this is no other namespace */
	MUST(!kern_label_of(k, t.pidfd, &label) && label == t.id);
	MUST(!kern_label_of(k, pidfd, &label) && !label);
	MUST(kern_signal_tree(k, t.id, SIGKILL) == 4);
	MUST(waitpid(t.root, NULL, 0) == t.root);
	while (tree_row(&t).live)
		sleep_ms(1);
	MUST(!kill(bystander, 0));
	kill(bystander, SIGKILL);
	waitpid(bystander, NULL, 0);
	tree_end(&t);
}

/* A process of ours that is the root of nothing must not pass for one. */
static void check_root(struct kern *k)
{
	const struct kern_sandbox_opts opts = { .keeper_owns = true };
	struct err err = { .text = "" };
	uint64_t first = 0, second = 0;
	pid_t child;
	int pidfd;

	OK(&err, kern_sandbox_create(k, &opts, &first, &err));
	child = start_sleeper();
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	OK(&err, kern_sandbox_verify_root(k, first, child, pidfd, &err));
	OK(&err, kern_sandbox_create(k, &opts, &second, &err));
	MUST(kern_sandbox_verify_root(k, second, child, pidfd, &err) == -EPROTO);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	kern_sandbox_delete(k, first);
	kern_sandbox_delete(k, second);
}

static void check_owner(struct kern *k)
{
	pid_t owner = start_sleeper();
	const struct kern_sandbox_opts opts = { .owner_tgid = (uint32_t)owner };
	struct tree t;

	tree_start(&t, k, &opts, family, NULL);
	tree_wait_live(&t, 5);
	MUST(tree_row(&t).owner_tgid != (uint32_t)owner);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	MUST(tree_row(&t).flags & SBX_OWNER_DIED);
	if (!kern_facts(k)->exit_hook_kills)
		kern_signal_tree(k, t.id, SIGKILL);
	tree_wait_live(&t, 0);
	tree_end(&t);
}

static int process_1(void)
{
	struct kern *k;

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("proc", "/proc", "proc", 0, NULL))
		return 98;
	k = open_kern();
	check_members(k);
	check_root(k);
	check_owner(k);
	kern_close(k);
	return 0;
}

static int container(void)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS))
		return 97;
	pid = fork();
	if (!pid)
		_exit(process_1());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 96;
}

static void members_owners_and_roots_are_known_by_pidfd(void **state)
{
	struct kern *k = open_kern(); /* on the host: its mount is seen inside */
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(container());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	kern_close(k);
	assert_int_equal(kern_unload(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_owners_and_roots_are_known_by_pidfd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
