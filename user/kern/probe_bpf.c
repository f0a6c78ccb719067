/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/probe_bpf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/half.h"
#include "kern/object.h"
#include "kern/aside.h"

#define TRY_MS 2000 /* for one child; a virtual machine without acceleration is slow */

static int load_tiny(enum bpf_prog_type type, enum bpf_attach_type attach, int btf_id)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = (__u32)btf_id,
		    .prog_flags = type == BPF_PROG_TYPE_SYSCALL ? BPF_F_SLEEPABLE : 0);

	return bpf_prog_load(type, "sbx_try", "Dual BSD/GPL", insns, 2, &opts);
}

/* A `syscall` program is the least of what is needed: what it meets, everything meets. */
static int may_load(struct err *err)
{
	own_fd fd = load_tiny(BPF_PROG_TYPE_SYSCALL, 0, 0);

	if (fd >= 0)
		return 0;
	if (fd == -EPERM || fd == -EACCES)
		return err_say(err, ERR_PERMISSION, fd,
			       "the kernel refuses BPF programs (bpf: %s): run as root with "
			       "CAP_BPF and CAP_PERFMON; "
			       "in a container --cap-add BPF --cap-add PERFMON --cap-add "
			       "SYS_ADMIN, and a seccomp "
			       "profile that lets bpf(2) pass",
			       strerror(-fd));
	if (fd == -EINVAL || fd == -ENOSYS)
		return err_say(err, ERR_UNSUPPORTED, fd,
			       "this kernel is too old for the kernel half of sbx, or built "
			       "without it: Linux 6.1 with "
			       "CONFIG_BPF_SYSCALL=y and CONFIG_BPF_EVENTS=y is needed (bpf: %s)",
			       strerror(-fd));
	return err_set(err, fd, "load a BPF program");
}

static bool has_func(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

/* Arguments of the tracepoint: the context, the task, and since 6.16 group_dead. */
static bool exit_has_group_dead(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "btf_trace_sched_process_exit", BTF_KIND_TYPEDEF);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) && btf_vlen(t) > 2;
}

static void try_lsm(const struct btf *btf, struct probe_types *out)
{
	int id = btf__find_by_name_kind(btf, "bpf_lsm_task_alloc", BTF_KIND_FUNC);
	own_fd fd = -1;

	if (id < 0) {
		snprintf(out->lsm_detail, sizeof(out->lsm_detail),
			 "the kernel is built without CONFIG_BPF_LSM");
		return;
	}
	fd = load_tiny(BPF_PROG_TYPE_LSM, BPF_LSM_MAC, id);
	out->lsm = fd >= 0;
	if (fd < 0)
		snprintf(out->lsm_detail, sizeof(out->lsm_detail),
			 "loading a BPF program of type lsm: %s", strerror(-fd));
}

int probe_types(struct probe_types *out, struct err *err)
{
	struct btf *btf;
	int rc = may_load(err);

	*out = (struct probe_types){ 0 };
	if (rc)
		return rc;
	object_hush();
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return err_say(err, ERR_UNSUPPORTED, -errno,
			       "this kernel does not describe its types (/sys/kernel/btf/vmlinux: "
			       "%s): a kernel with "
			       "CONFIG_DEBUG_INFO_BTF=y is needed",
			       strerror(errno));
	out->group_dead = exit_has_group_dead(btf);
	out->signal_task = has_func(btf, "bpf_send_signal_task");
	out->task_iter = has_func(btf, "bpf_iter_task_new") && has_func(btf, "bpf_task_acquire") &&
			 has_func(btf, "bpf_rcu_read_lock");
	try_lsm(btf, out);
	btf__free(btf);
	return 0;
}

/* ---- what the children do ------------------------------------------------------------------- */

struct
try {
	const struct probe_half *half;
	uint64_t id;
	int hold[2];   /* keeps the tree alive until the loader closes it */
	int report[2]; /* pid of the tree */
};

static int control(const struct try *t, uint32_t what)
{
	struct sbx_control c = { .sandbox = t->id, .what = what };
	int rc = half_run(t->half->control_fd, &c, sizeof(c));

	return rc ? rc : c.error;
}

/* The caller becomes the keeper of a sandbox and its next child the root. */
static int become_keeper(const struct try *t)
{
	struct sbx_create c = { .id = t->id, .flags = SBX_KILL_WITH_KEEPER };
	int rc = half_run(t->half->create_fd, &c, sizeof(c));

	return rc ? rc : c.error;
}

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

enum { REFUSED = 0, ALLOWED = 1, BROKEN = 2 };

static int try_fork_in_dying(void *arg)
{
	struct try *t = arg;
	int fd, verdict;

	if (become_keeper(t) || control(t, SBX_CONTROL_DYING))
		return BROKEN;
	fd = aside_start(nothing, NULL, NULL);
	verdict = fd == -EAGAIN ? REFUSED : fd < 0 ? BROKEN : ALLOWED;
	if (fd >= 0)
		aside_end(fd, TRY_MS);
	return verdict;
}

/* Lives until it is killed, or until the loader gives up. */
static int try_live(void *arg)
{
	struct try *t = arg;
	char byte;

	close(t->hold[1]);
	setsid();
	return read(t->hold[0], &byte, 1) < 0;
}

static int try_keep_and_die(void *arg)
{
	struct try *t = arg;
	pid_t pid = 0;

	if (become_keeper(t) || aside_start(try_live, t, &pid) < 0)
		return BROKEN;
	return write(t->report[1], &pid, sizeof(pid)) == sizeof(pid) ? 0 : BROKEN;
}

static uint64_t fresh_id(void)
{
	uint64_t id = 0;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		id = (uint64_t)getpid();
	return id | 1ull << 60; /* beyond the ids of people's sandboxes */
}

bool probe_lsm_refuses(const struct probe_half *h, char detail[128])
{
	struct try t = { .half = h, .id = fresh_id() };
	int fd = aside_start(try_fork_in_dying, &t, NULL);
	int rc = fd < 0 ? fd : aside_end(fd, TRY_MS);

	control(&t, SBX_CONTROL_DELETE);
	if (rc == REFUSED)
		return true;
	snprintf(detail, 128, "%s",
		 rc == ALLOWED ? "BPF LSM programs attach but are not asked: boot with bpf in lsm="
		 : rc == -ETIMEDOUT ? "a fork under the task_alloc hook did not return in time"
				    : "the trial of the task_alloc hook failed");
	return false;
}

static bool killed_by_hook(const struct probe_half *h, uint64_t id)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	struct sbx_sandbox row;

	for (int i = 0; i < 200; i++, nanosleep(&step, NULL)) {
		if (bpf_map_lookup_elem(h->sandboxes_fd, &id, &row))
			return false;
		if (!row.live && row.killed) /* the victim may be gone before its kill is counted */
			return true;
	}
	return false;
}

static bool keeper_dies(struct try *t, pid_t *tree)
{
	int fd = aside_start(try_keep_and_die, t, NULL);

	return fd >= 0 && !aside_end(fd, TRY_MS) &&
	       read(t->report[0], tree, sizeof(*tree)) == sizeof(*tree);
}

bool probe_exit_kills(const struct probe_half *h, char detail[128])
{
	struct try t = { .half = h, .id = fresh_id() };
	pid_t tree = 0;
	bool works = false;

	snprintf(detail, 128, "the trial of the exit hook failed");
	if (pipe2(t.hold, O_CLOEXEC))
		return false;
	if (!pipe2(t.report, O_CLOEXEC | O_NONBLOCK)) {
		if (keeper_dies(&t, &tree)) {
			works = killed_by_hook(h, t.id);
			snprintf(detail, 128, "%s",
				 works ? ""
				       : "the kernel refuses bpf_send_signal_task() in the exit "
					 "hook (before 6.16)");
		}
		close(t.report[0]);
		close(t.report[1]);
	}
	close(t.hold[0]);
	close(t.hold[1]);
	if (tree > 0)
		waitpid(tree, NULL, __WALL); /* ours only where we are the subreaper */
	control(&t, SBX_CONTROL_DELETE);
	return works;
}
