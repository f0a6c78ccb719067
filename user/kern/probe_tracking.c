/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel half does: it is loaded (or found), and a child is tracked by it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "kern/attempt.h"
#include "kern/kern.h"
#include "kern/pidns.h"
#include "kern/probe.h"

#ifndef SYS_lsm_list_modules
#define SYS_lsm_list_modules 461 /* Linux 6.8 */
#endif
#define LSM_ID_BPF 110 /* <linux/lsm.h> of 6.8 */

#define CHILD_STATUS 42
#define REMEDY_BPF                                                                               \
	"run as root on Linux 6.1 or newer with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and "         \
	"CONFIG_DEBUG_INFO_BTF; docker, podman: --privileged (or --cap-add SYS_ADMIN --cap-add " \
	"BPF "                                                                                   \
	"--cap-add PERFMON --security-opt seccomp=unconfined); Kubernetes: "                     \
	"securityContext.privileged"

static int end_with_status(void *arg)
{
	(void)arg;
	return CHILD_STATUS;
}

/* A child is labelled before it runs, and its exit is on record after it is gone. */
static int track_child(struct kern *k, char detail[128])
{
	const struct kern_sandbox_opts opts = { 0 };
	struct sbx_sandbox row = { 0 };
	struct attempt c;
	struct err err = { 0 };
	uint64_t id = 0;
	int rc = kern_sandbox_create(k, &opts, &id, &err);

	if (rc) {
		snprintf(detail, 128, "%.127s", err.text);
		return rc;
	}
	rc = attempt_start(&c, NULL, end_with_status, NULL);
	if (!rc) {
		attempt_wait(&c, ATTEMPT_MS);
		rc = kern_sandbox_read(k, id, &row);
	}
	kern_sandbox_delete(k, id);
	if (!rc && (!(row.flags & SBX_ROOT_EXITED) || row.live ||
		    WEXITSTATUS(row.root_status) != CHILD_STATUS))
		rc = -ENODATA;
	snprintf(detail, 128, "a child was %s",
		 rc ? "not tracked" : "labelled, and its exit is on record");
	return rc;
}

static void tracking_row(struct probe_row *row, struct kern *k)
{
	const struct kern_facts *f = kern_facts(k);
	char detail[128];

	row->attempted = row->enforced = !track_child(k, detail);
	probe_say(row, f->lsm ? "bpf lsm task_alloc" : "bpf tp_btf", "%s; %u of each hook", detail,
		  f->hook_copies);
	if (!row->enforced)
		snprintf(row->remedy, sizeof(row->remedy),
			 "sbxctl unload, then again; if it stays so, report it");
}

static int sleep_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return 0;
}

/* Whether what lives in a pid namespace dies with its init. */
static bool init_kills(struct err *err)
{
	struct pidns ns = PIDNS_NONE;
	struct attempt child;
	int rc = pidns_start(&ns, PIDNS_NO_ENDS, err), status = 0;

	if (!rc)
		rc = pidns_enter(&ns, err);
	if (!rc)
		rc = attempt_start(&child, NULL, sleep_for_ever, NULL);
	if (!rc) {
		rc = pidns_leave(err);
		/* An init is not gone before its namespace is empty, and the child is ours to reap. */
		kill(ns.pid, SIGKILL);
		status = attempt_wait(&child, ATTEMPT_MS);
	}
	pidns_stop(&ns);
	return !rc && status == 128 + SIGKILL;
}

/* The exit hook was tried when the kernel half was loaded. */
static void kernel_kill_row(struct probe_row *row, const struct kern_facts *f)
{
	struct err err = { 0 };

	row->listed = true;
	if (f->exit_hook_kills) {
		row->attempted = row->enforced = true;
		probe_say(row, "exit_hook", "the death of a keeper killed its tree");
		return;
	}
	row->attempted = row->enforced = init_kills(&err);
	probe_say(row, "pid_namespace, watcher",
		  "%s; the death of an init %s; without --pid-ns a watcher process does it",
		  f->exit_hook_detail,
		  row->attempted ? "killed what was in its pid namespace" : "killed nothing");
	if (!row->enforced)
		snprintf(row->remedy, sizeof(row->remedy), "%s", REMEDY_BPF);
}

/* A process that runs already is labelled; the number of its threads, or a negative errno. */
static int adopt_child(struct kern *k, struct attempt *child, struct err *err)
{
	const struct kern_sandbox_opts opts = { 0 };
	struct kern_adopted got = { 0 };
	uint64_t id = 0;
	int rc = kern_sandbox_create(k, &opts, &id, err);

	if (rc)
		return rc;
	rc = kern_sandbox_unseed(k, id);
	if (!rc)
		rc = kern_adopt(k, child->pidfd, id, &got, err);
	kern_let_go(k, id);
	kern_sandbox_delete(k, id);
	return rc ? rc : (int)got.threads;
}

static void attach_row(struct probe_row *row, struct kern *k)
{
	struct attempt child;
	struct err err = { 0 };
	int rc = attempt_start(&child, NULL, sleep_for_ever, NULL);

	row->listed = true;
	if (rc == 0) {
		rc = adopt_child(k, &child, &err);
		kill(child.pid, SIGKILL);
		attempt_wait(&child, ATTEMPT_MS);
	}
	row->attempted = row->enforced = rc == 1;
	probe_say(row, "iter/task", "a running child was %sadopted%s%s",
		  row->enforced ? "" : "not ", *err.text ? ": " : "", err.text);
	if (!row->enforced)
		snprintf(row->remedy, sizeof(row->remedy), "%s", REMEDY_BPF);
}

/* Unreadable means none (contract 74): securityfs, else the system call. */
static bool lsm_listed(void)
{
	uint64_t ids[64];
	uint32_t size = sizeof(ids);
	char list[512];
	long count;

	if (io_read_file(AT_FDCWD, "/sys/kernel/security/lsm", list, sizeof(list)) > 0) {
		for (char *save, *name = strtok_r(list, ",", &save); name;
		     name = strtok_r(NULL, ",", &save))
			if (!strcmp(name, "bpf"))
				return true;
		return false;
	}
	count = syscall(SYS_lsm_list_modules, ids, &size, 0);
	for (long i = 0; i < count; i++)
		if (ids[i] == LSM_ID_BPF)
			return true;
	return false;
}

static void lsm_row(struct probe_row *row, const struct kern_facts *f)
{
	row->listed = lsm_listed();
	row->attempted = row->enforced = f->lsm;
	probe_say(row, f->lsm ? "bpf lsm" : "none", "%s%s",
		  f->lsm ? "a fork was refused by task_alloc" : f->lsm_detail,
		  row->listed && !f->lsm ? " (though the LSM list has bpf)" : "");
	if (f->lsm)
		return;
	snprintf(row->remedy, sizeof(row->remedy), "%s",
		 row->listed ? "the kernel or the machine under it refuses BPF LSM programs "
			       "whatever the list says: "
			       "another kernel, or a host without that restriction"
			     : "CONFIG_BPF_LSM=y, and bpf at the end of the boot parameter lsm= "
			       "(lsm=landlock,lockdown,yama,bpf)");
}

static void nothing_tracked(struct probe_report *r, const struct err *err)
{
	const enum capability rows[] = { CAP_PROCESS_TRACKING, CAP_KERNEL_KILL, CAP_ATTACH,
					 CAP_LSM_ENFORCEMENT };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct probe_row *row = &r->rows[rows[i]];

		probe_say(row, "none", "%s", err->text);
		snprintf(row->remedy, sizeof(row->remedy), "%s", REMEDY_BPF);
	}
	r->rows[CAP_LSM_ENFORCEMENT].listed = lsm_listed();
}

void probe_tracking(struct probe_report *r)
{
	struct err err = { 0 };
	struct kern *k;

	r->rows[CAP_PROCESS_TRACKING].listed = !access("/sys/kernel/btf/vmlinux", R_OK);
	if (kern_open(&k, &err)) {
		nothing_tracked(r, &err);
		return;
	}
	tracking_row(&r->rows[CAP_PROCESS_TRACKING], k);
	kernel_kill_row(&r->rows[CAP_KERNEL_KILL], kern_facts(k));
	attach_row(&r->rows[CAP_ATTACH], k);
	lsm_row(&r->rows[CAP_LSM_ENFORCEMENT], kern_facts(k));
	kern_close(k);
}
