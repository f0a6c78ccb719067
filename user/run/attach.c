/* SPDX-License-Identifier: Apache-2.0 */
#include "run/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/io.h"
#include "base/own.h"
#include "run/attach_group.h"
#include "run/attach_policy.h"
#include "run/attach_target.h"
#include "run/meta.h"
#include "run/state.h"

#define COUNT_NS (50ULL * 1000000)
#define STOP_ROUNDS 8

/* ---- who may be attached to ----------------------------------------------------------------- */

static int check_target(struct run *run, struct err *err)
{
	const pid_t outside[] = { getpid(), run->parent };

	run->child.pidfd = attach_target_open(run->spec->attach, outside, 2, err);
	return run->child.pidfd < 0 ? run->child.pidfd : 0;
}

static int of_sandbox(uint64_t id, const char *who, struct err *err)
{
	char text[SBX_ID_LEN + 1];

	kern_id_text(id, text);
	return err_say(err, ERR_BUSY, -EBUSY, "%s is in run '%s' already", who, text);
}

static int check_labels(struct run *run, struct err *err)
{
	own_fd self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	uint64_t label;
	char who[32];
	int rc = self < 0 ? -errno : kern_label_of(run->kern, self, &label);

	if (rc)
		return err_set(err, rc, "look at our own label");
	if (label)
		return of_sandbox(label, "this command", err);
	snprintf(who, sizeof(who), "process %d", (int)run->spec->attach);
	rc = kern_label_of(run->kern, run->child.pidfd, &label);
	if (rc)
		return attach_target_refuse(run->spec->attach, rc, "does not exist", err);
	return label ? of_sandbox(label, who, err) : 0;
}

/* ---- the start ------------------------------------------------------------------------------ */

/* Whom it runs as: its processes may ask about themselves, and ~ is its home. The owner of its directory in /proc is
 * root where it may not be dumped. */
static int find_user(struct run *run, struct err *err)
{
	unsigned int uid, gid;
	char path[40], text[2048], number[16];
	const char *at;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)run->spec->attach);
	if (io_read_file(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return attach_target_refuse(run->spec->attach, -ESRCH, "does not exist", err);
	at = strstr(text, "\nUid:");
	if (!at || sscanf(at, "\nUid: %u %*u %*u %*u Gid: %u", &uid, &gid) != 2)
		return attach_target_refuse(run->spec->attach, -ESRCH, "does not say whose it is",
					    err);
	snprintf(number, sizeof(number), "%u", uid);
	rc = user_lookup(&run->user, number, NULL, err);
	if (rc < 0)
		return rc;
	run->switch_user = true;
	run->user.gid = gid;
	return 0;
}

bool attach_root_owns(const struct run *run)
{
	return run->spec->attach && run->spec->owner_mode == OWNER_PARENT;
}

static int find_owner(struct run *run, struct err *err)
{
	if (!attach_root_owns(run))
		return launch_owner(run, err);
	run->owner_pid = run->spec->attach; /* its pidfd is watched as the root's */
	return 0;
}

static int open_kern(struct run *run, struct err *err)
{
	return kern_open(&run->kern, err);
}

static int make_cgroup(struct run *run, struct err *err)
{
	return cgroup_none(&run->cgroup, err);
}

static uint64_t asked(const struct run *run, enum limit_id id)
{
	return limit_in_force(&run->limits[id]) ? run->limits[id].value : 0;
}

static int make_sandbox(struct run *run, struct err *err)
{
	struct kern_sandbox_opts opts = {
		.max_execs = asked(run, LIMIT_EXECS),
		.max_depth = asked(run, LIMIT_DEPTH),
		.keeper_owns = run->spec->kill_with_keeper,
		.owner_tgid = (uint32_t)run->owner_pid,
		.want_events = true,
	};
	int rc = kern_sandbox_create(run->kern, &opts, &run->id, err);

	if (rc < 0)
		run->id = 0;
	else /* the seed is for a child of ours, and there is none */
		rc = kern_sandbox_unseed(run->kern, run->id);
	return rc;
}

struct descriptors {
	uint64_t count, until_ns;
	uint32_t last;
};

/* Since 6.2 a process's fd directory has their number as its size. */
static int count_descriptors(void *arg, const struct sbx_task *task)
{
	struct descriptors *d = arg;
	struct stat st;
	char path[40];

	if (!(task->flags & SBX_TASK_PROCESS))
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/fd", task->tgid);
	if (stat(path, &st))
		return 0;
	if (st.st_size == 0 || clock_boot_ns() > d->until_ns)
		return 1; /* unknown is not 0 */
	d->count += (uint64_t)st.st_size;
	return 0;
}

static int adopt(struct run *run, struct err *err)
{
	struct result_attach *a = &run->result.attach;
	struct descriptors d = { .until_ns = clock_boot_ns() + COUNT_NS };
	struct kern_adopted adopted;
	uint64_t begin = clock_boot_ns();
	int rc = kern_adopt(run->kern, run->child.pidfd, run->id, &adopted, err);

	if (rc == -ESRCH)
		return attach_target_refuse(run->spec->attach, rc, "has ended", err);
	if (rc == 0)
		rc = attach_group_adopt(run, &adopted, err);
	if (rc < 0)
		return rc;
	a->pid = run->spec->attach;
	a->processes = adopted.processes;
	a->threads = adopted.threads;
	a->foreign = adopted.foreign;
	a->took_ns = clock_boot_ns() - begin;
	a->descriptors = RESULT_NONE;
	if (!kern_tasks_each(run->kern, run->id, count_descriptors, &d))
		a->descriptors = d.count;
	run->started_ns = clock_boot_ns();
	return 0;
}

/* An owner that died before it was registered has told nobody. */
static int check_owner(struct run *run, struct err *err)
{
	if (attach_root_owns(run))
		return syscall(SYS_pidfd_send_signal, run->child.pidfd, 0, NULL, 0)
			       ? attach_target_refuse(run->spec->attach, -ESRCH, "has ended", err)
			       : 0;
	if (run->owner_pid > 0 && syscall(SYS_pidfd_send_signal, run->owner.fd, 0, NULL, 0))
		return err_say(err, ERR_VALIDATION, -ESRCH, "owner %d does not live",
			       (int)run->owner_pid);
	return 0;
}

/* Somebody must outlive us where the exit hook cannot kill for a dead owner, and hold what a file policy is about. */
static int make_watcher(struct run *run, struct err *err)
{
	struct watcher_opts opts = {
		.id = run->id,
		.owner_fd = attach_root_owns(run) ? run->child.pidfd : run->owner.fd,
		.owner_events = attach_root_owns(run) ? POLLIN : launch_owner_events(run),
		.timer_fd = -1,
		.files = run->confinement.files,
		.outlives = !run->spec->kill_with_keeper,
	};

	bool kills = !kern_facts(run->kern)->exit_hook_kills &&
		     (opts.owner_fd >= 0 || run->spec->kill_with_keeper);

	if (!kills && !opts.files)
		return 0;
	return watcher_start(&run->watcher, run->kern, &opts, err);
}

static int record(struct run *run, struct err *err)
{
	struct meta_facts facts = { .root_pid = run->spec->attach };

	run_clauses(run, &run->result);
	result_sentence(&run->result);
	return meta_write(&run->dir, &run->result, &facts, err);
}

static const struct {
	const char *fault;
	int (*step)(struct run *run, struct err *err);
} attach_order[] = {
	{ "attach_target", check_target },
	{ "attach_user", find_user },
	{ "attach_owner", find_owner },
	{ "attach_dir", launch_dir },
	{ "attach_kern", open_kern },
	{ "attach_labels", check_labels },
	{ "attach_cgroup", make_cgroup },
	{ "attach_resolve", attach_policy_resolve },
	{ "attach_sandbox", make_sandbox },
	{ "attach_policy", attach_policy_enforce },
	{ "attach_adopt", adopt },
	{ "attach_check", check_owner },
	{ "attach_watcher", make_watcher },
	{ "attach_record", record },
	{ "attach_sources", deadline_sources },
};

int attach_start(struct run *run, struct err *err)
{
	for (size_t i = 0; i < sizeof(attach_order) / sizeof(*attach_order); i++) {
		int rc = FAULT(attach_order[i].fault);

		if (rc < 0)
			return err_set(err, rc, "%s", attach_order[i].fault);
		rc = attach_order[i].step(run, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- while it is attached, and after -------------------------------------------------------- */

void attach_release(struct run *run)
{
	if (run->spec->attach && run->kern && run->id)
		kern_let_go(run->kern, run->id);
}

/* Who forks while the others are stopped one by one is met by the next round. */
int attach_freeze(struct run *run, bool frozen)
{
	int last = -1, n = 0;

	for (int i = 0; i < STOP_ROUNDS && n != last; i++) {
		last = n;
		n = kern_signal_tree(run->kern, run->id, frozen ? SIGSTOP : SIGCONT);
		if (n < 0)
			return n;
	}
	return 0;
}

void attach_clauses(const struct run *run, struct result *r)
{
	if (run->spec->attach)
		result_clause(r, "attach", "iter/task", true, true, true,
			      "what was before is not taken back");
}
