/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 150 */
/* The kernel half is loaded once, reused, replaced by a new build when nobody lives in it, and
 * taken out whole. */
#include "keeper.h"

#include <bpf/bpf.h>

#include <dirent.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "kern/half.h"

static const struct kern_sandbox_opts plain = { .keeper_owns = true };

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static unsigned int entries(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	unsigned int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* The directory above the builds, and the bpffs it lies in. */
static void above(const char *dir, int levels, char out[256])
{
	snprintf(out, 256, "%s", dir);
	while (levels--)
		*strrchr(out, '/') = '\0';
}

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && (unsigned long)fs.f_type == BPF_FS_MAGIC;
}

/* A load takes seconds in a virtual machine: the tests stand in an order in which each finds, and
 * leaves, what the next one needs. */
static void the_second_start_reuses_the_first(void **state)
{
	struct kern *first = open_kern(), *second = open_kern();
	const struct kern_facts *a = kern_facts(first), *b = kern_facts(second);

	(void)state;
	print_message("tier %s (%s); the exit hook %s (%s); %u copies of a hook\n",
		      a->lsm ? "A" : "B", a->lsm_detail,
		      a->exit_hook_kills ? "kills" : "does not kill", a->exit_hook_detail,
		      a->hook_copies);
	assert_true(a->loaded_now);
	assert_false(b->loaded_now);
	assert_string_equal(a->pin_dir, b->pin_dir);
	assert_string_equal(a->build_id, b->build_id);
	assert_int_equal(strlen(a->build_id), 64);
	assert_true(a->hook_copies == 1 || a->hook_copies == 3);
	if (!a->lsm)
		assert_true(*a->lsm_detail);
	if (!a->exit_hook_kills)
		assert_true(*a->exit_hook_detail);
	assert_int_equal(waitpid(-1, NULL, __WALL), -1); /* the children that tried are gone */
	kern_close(first);
	kern_close(second);
}

static void unload_leaves_nothing(void **state)
{
	struct kern *k = open_kern();
	char dir[256], bpffs[256];

	(void)state;
	above(kern_facts(k)->pin_dir, 0, dir);
	above(dir, 3, bpffs);
	assert_true(exists(dir));
	assert_true(is_bpffs(bpffs));
	kern_close(k);
	assert_int_equal(kern_unload(NULL), 0);
	assert_false(exists(dir));
	assert_false(exists(bpffs)); /* the mount was ours */
	assert_int_equal(kern_unload(NULL), 0);
}

static int pauses(void *arg)
{
	(void)arg;
	return pause();
}

static void unload_refuses_while_a_sandbox_lives(void **state)
{
	struct err err = { .text = "" };
	struct kern *k = open_kern();
	struct tree t;

	(void)state;
	tree_start(&t, k, &plain, pauses, NULL);
	assert_int_equal(kern_unload(&err), -EBUSY);
	assert_non_null(strstr(err.text, "sbxctl ps"));
	assert_true(exists(kern_facts(k)->pin_dir));
	assert_int_equal(kern_signal_tree(k, t.id, SIGKILL), 1); /* still tracked */
	tree_wait(&t);
	tree_end(&t);
	kern_close(k);
}

/* With `room` more descriptors, may a half in which somebody lives be taken for one in which nobody does? */
static void judge_without_descriptors(const char *dir, rlim_t room)
{
	int first = dup(0);
	struct rlimit few = { (rlim_t)first + room, (rlim_t)first + room };
	bool live;

	close(first);
	if (setrlimit(RLIMIT_NOFILE, &few))
		_exit(2);
	_exit((!half_lives(dir, &live) && !live) || (!half_retire(dir, &live) && !live));
}

static void what_cannot_be_looked_at_is_not_taken_for_empty(void **state)
{
	struct kern *k = open_kern();
	struct tree t;
	int status;

	(void)state;
	tree_start(&t, k, &plain, pauses, NULL);
	for (rlim_t room = 0; room < 3; room++) {
		pid_t pid = fork();

		if (!pid)
			judge_without_descriptors(kern_facts(k)->pin_dir, room);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	assert_int_equal(kern_signal_tree(k, t.id, SIGKILL), 1);
	tree_wait(&t);
	tree_end(&t);
	kern_close(k);
}

/* A half whose rows are larger than ours, under the same ABI number. */
static void judge_a_larger_half(const char *beside)
{
	char dir[256], path[300], row[sizeof(struct sbx_sandbox) + 4096] = "";
	__u64 id = 1;
	bool live;
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "larger", sizeof(id), sizeof(row), 4, NULL);

	snprintf(dir, sizeof(dir), "%s/../larger", beside);
	snprintf(path, sizeof(path), "%s/sandboxes", dir);
	if (map < 0 || bpf_map_update_elem(map, &id, row, BPF_ANY) || mkdir(dir, 0700) ||
	    bpf_obj_pin(map, path))
		_exit(2);
	_exit(half_lives(dir, &live) || !live);
}

static void the_rows_of_another_build_are_not_read(void **state)
{
	struct kern *k = open_kern();
	char path[300];
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		judge_a_larger_half(kern_facts(k)->pin_dir);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(path, sizeof(path), "%s/../larger/sandboxes", kern_facts(k)->pin_dir);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	kern_close(k);
	assert_int_equal(status, 0);
}

/* A row is made before its root is there: an unload in between would leave the run untracked. */
static void unload_refuses_while_a_start_is_under_way(void **state)
{
	struct err err = { .text = "" };
	struct kern *k = open_kern();
	uint64_t id = 0;

	(void)state;
	OK(&err, kern_sandbox_create(k, &plain, &id, &err));
	assert_int_equal(kern_unload(&err), -EBUSY);
	kern_sandbox_delete(k, id);
	kern_close(k);
}

static void a_start_after_an_unload_loads_again(void **state)
{
	struct err err = { .text = "" };
	struct kern *k = open_kern();
	struct tree t;

	(void)state;
	assert_int_equal(kern_unload(&err), 0);
	tree_start(&t, k, &plain, pauses, NULL); /* a handle to what is gone */
	assert_int_equal(kern_signal_tree(k, t.id, SIGKILL), 1);
	assert_int_equal(tree_wait(&t), SIGKILL);
	assert_true(kern_facts(k)->loaded_now);
	tree_end(&t);
	kern_close(k);
}

static void another_build_stays_until_its_sandboxes_end(void **state)
{
	struct kern *old = open_kern(), *new;
	char dir[256], abi[256], other[512], third[512];
	struct tree t;

	(void)state;
	above(kern_facts(old)->pin_dir, 0, dir);
	above(dir, 1, abi);
	tree_start(&t, old, &plain, pauses, NULL);
	assert_int_equal(kern_signal_tree(old, t.id, 0), 1); /* opens all pins before they move */
	snprintf(other, sizeof(other), "%s/0123456789abcdef", abi);
	snprintf(third, sizeof(third), "%s/0123456789abcdef_new", abi); /* a load that was killed */
	assert_int_equal(rename(dir, other), 0);
	assert_int_equal(mkdir(third, 0700), 0);

	new = open_kern();
	assert_true(kern_facts(new)->loaded_now);
	assert_int_equal(entries(abi), 2);
	assert_true(exists(other));
	assert_int_equal(kern_unload(NULL), -EBUSY);
	assert_int_equal(kern_signal_tree(old, t.id, SIGKILL), 1);
	assert_int_equal(tree_wait(&t), SIGKILL);
	assert_int_equal(tree_row(&t).root_status, SIGKILL);
	tree_end(&t);
	kern_close(old);
	kern_close(new);

	snprintf(third, sizeof(third), "%s/fedcba9876543210", abi);
	assert_int_equal(rename(dir, third), 0);
	new = open_kern();
	assert_int_equal(entries(abi), 1);
	kern_close(new);
	assert_int_equal(kern_unload(NULL), 0);
}

/* ---- hosts that cannot ---------------------------------------------------------------------- */

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	return (int)syscall(SYS_capset, &head, none);
}

/* Nobody else's child is taken for it. */
static int status_of(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

struct refusal {
	int rc;
	struct err err;
	bool left;
};

static void open_as(struct refusal *r, uid_t uid)
{
	struct kern *k;

	if (uid ? setuid(uid) : drop_capabilities())
		_exit(2);
	r->rc = kern_open(&k, &r->err);
	_exit(0);
}

static void another_user_is_told_to_be_root(void **state)
{
	struct refusal *r = shared(sizeof(*r));
	pid_t pid = fork();

	(void)state;
	if (!pid)
		open_as(r, 65534);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(r->rc, -EACCES);
	assert_non_null(strstr(r->err.text, "must run as root"));
	assert_null(strchr(r->err.text, '\n'));
}

static void without_capabilities_it_says_which(void **state)
{
	struct refusal *r = shared(sizeof(*r));
	char bpffs[256];
	pid_t pid = fork();

	(void)state;
	if (!pid)
		open_as(r, 0);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(r->rc, -EPERM);
	assert_non_null(strstr(r->err.text, "CAP_SYS_ADMIN"));
	snprintf(bpffs, sizeof(bpffs), "%s/bpf", getenv("SBX_RUN_DIR"));
	assert_false(is_bpffs(bpffs));
}

static void open_without_btf(struct refusal *r)
{
	struct kern *k;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL))
		_exit(2);
	r->rc = kern_open(&k, &r->err);
	r->left = entries(getenv("SBX_RUN_DIR")) > 1;
	_exit(kern_unload(NULL));
}

static void without_btf_it_says_so_and_leaves_no_pin(void **state)
{
	struct refusal *r = shared(sizeof(*r));
	pid_t pid = fork();

	(void)state;
	if (!pid)
		open_without_btf(r);
	assert_int_equal(status_of(pid), 0);
	assert_true(r->rc < 0);
	assert_non_null(strstr(r->err.text, "CONFIG_DEBUG_INFO_BTF=y"));
	assert_false(r->left);
}

static void a_bpffs_that_is_none_is_refused_by_name(void **state)
{
	struct err err = { .text = "" };
	struct kern *k;

	(void)state;
	setenv("SBX_BPFFS", "/tmp", 1);
	assert_int_equal(kern_open(&k, &err), -EINVAL);
	assert_non_null(strstr(err.text, "SBX_BPFFS='/tmp'"));
	unsetenv("SBX_BPFFS");
}

static void *opens(void *arg)
{
	struct kern **k = arg;

	kern_open(k, NULL);
	return NULL;
}

static void of_many_first_starts_one_loads(void **state)
{
	struct kern *k[6] = { NULL };
	pthread_t t[6];
	unsigned int loaded = 0;

	(void)state;
	for (int i = 0; i < 6; i++)
		assert_int_equal(pthread_create(&t[i], NULL, opens, &k[i]), 0);
	for (int i = 0; i < 6; i++) {
		pthread_join(t[i], NULL);
		assert_non_null(k[i]);
		loaded += kern_facts(k[i])->loaded_now;
		kern_close(k[i]);
	}
	assert_int_equal(loaded, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_start_reuses_the_first),
		cmocka_unit_test(unload_refuses_while_a_sandbox_lives),
		cmocka_unit_test(unload_refuses_while_a_start_is_under_way),
		cmocka_unit_test(what_cannot_be_looked_at_is_not_taken_for_empty),
		cmocka_unit_test(the_rows_of_another_build_are_not_read),
		cmocka_unit_test(another_user_is_told_to_be_root),
		cmocka_unit_test(unload_leaves_nothing),
		cmocka_unit_test(without_capabilities_it_says_which),
		cmocka_unit_test(without_btf_it_says_so_and_leaves_no_pin),
		cmocka_unit_test(a_bpffs_that_is_none_is_refused_by_name),
		cmocka_unit_test(of_many_first_starts_one_loads),
		cmocka_unit_test(a_start_after_an_unload_loads_again),
		cmocka_unit_test(another_build_stays_until_its_sandboxes_end),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
