/* SPDX-License-Identifier: Apache-2.0 */
#include "run/attach_group.h"

#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/num.h"
#include "base/own.h"
#include "kern/cgroup_members.h"
#include "run/attach_target.h"
#include "run/state.h"

#define LISTED 128 /* pidfds that are open at once */
#define GROUP_NS (5ULL * 1000000000)

/* Either a directory of a control group, with those inside it, or a session. */
struct group {
	const char *cgroup;
	pid_t session;
};

/* ---- who is in it --------------------------------------------------------------------------- */

static int add_session(pid_t session, struct members *pids)
{
	own_dir proc = opendir("/proc");
	struct dirent *e;
	struct attach_process p;
	uint64_t pid;
	int rc = proc ? 0 : -errno;

	while (!rc && (e = readdir(proc)))
		if (!num_u64(e->d_name, &pid) && !attach_process((pid_t)pid, &p) &&
		    p.session == session && p.state != 'Z')
			rc = members_add(pids, (pid_t)pid);
	return rc;
}

/* The kernel lists /proc in the order of the numbers. */
static int list_all(const struct group *group, struct members *out, struct err *err)
{
	int rc;

	if (group->cgroup)
		return cgroup_members(group->cgroup, out, err);
	*out = (struct members){ 0 };
	rc = add_session(group->session, out);
	if (!rc)
		return 0;
	members_done(out);
	return err_set(err, rc, "list the processes of session %d", (int)group->session);
}

int attach_group_first(const char *cgroup, pid_t *pid, struct err *err)
{
	const struct group group = { .cgroup = cgroup };
	unsigned long long first = 0;
	struct members pids;
	struct attach_process p;
	int rc = list_all(&group, &pids, err);

	*pid = 0;
	for (size_t i = 0; !rc && i < pids.count; i++) {
		if (attach_process(pids.list[i], &p) || p.state == 'Z' ||
		    (*pid && p.start >= first))
			continue;
		*pid = pids.list[i];
		first = p.start;
	}
	members_done(&pids);
	if (!rc && !*pid)
		rc = err_say(err, ERR_NOT_FOUND, -ESRCH, "'%s' has no process", cgroup);
	return rc;
}

/* ---- adoption ------------------------------------------------------------------------------- */

/* One that is somebody else's stays so. */
static int adopt_one(struct run *run, int pidfd, int *added, struct kern_adopted *sum,
		     struct err *err)
{
	uint64_t label;
	int rc = kern_label_of(run->kern, pidfd, &label);

	if (rc == -ESRCH || (!rc && label == run->id))
		return 0;
	if (!rc && label) {
		sum->foreign++;
		return 0;
	}
	if (!rc)
		rc = kern_label_pidfd(run->kern, pidfd, run->id, err);
	*added += !rc;
	return rc == -ESRCH || rc == -EBUSY ? 0 : rc;
}

/* Members of the group or session have no parent in the tree: each is labelled by itself. Who is listed after its pidfd
 * was opened, and is labelled through that, was on the list. */
static int adopt_listed(struct run *run, const struct group *group, const struct members *pids,
			struct kern_adopted *sum, struct err *err)
{
	int added = 0, rc = 0;

	for (size_t at = 0; !rc && at < pids->count; at += LISTED) {
		size_t n = pids->count - at < LISTED ? pids->count - at : LISTED;
		struct members now;
		int fds[LISTED];

		for (size_t i = 0; i < n; i++)
			fds[i] = (int)syscall(SYS_pidfd_open, pids->list[at + i], 0);
		rc = list_all(group, &now, err);
		for (size_t i = 0; i < n; i++) {
			if (!rc && fds[i] >= 0 && members_have(&now, pids->list[at + i]))
				rc = adopt_one(run, fds[i], &added, sum, err);
			close_fd(&fds[i]);
		}
		members_done(&now);
	}
	return rc ? rc : added;
}

/* Until a listing has nobody new. */
int attach_group_adopt(struct run *run, struct kern_adopted *sum, struct err *err)
{
	const pid_t outside[] = { getpid(), run->parent };
	struct group group = { .cgroup = run->spec->attach_cgroup };
	uint64_t until_ns = clock_boot_ns() + GROUP_NS;
	struct attach_process root;
	int rc = 0;

	if (!run->spec->attach_session && !group.cgroup)
		return 0;
	if (run->spec->attach_session) {
		if (attach_process(run->spec->attach, &root))
			return attach_target_refuse(run->spec->attach, -ESRCH, "has ended", err);
		group.session = root.session;
	}
	while (!rc) {
		unsigned int foreign = sum->foreign;
		struct members pids;

		sum->foreign = 0;
		rc = list_all(&group, &pids, err);
		for (size_t i = 0; !rc && i < pids.count; i++)
			rc = attach_target_outside(pids.list[i], outside, 2, err);
		if (!rc)
			rc = adopt_listed(run, &group, &pids, sum, err);
		members_done(&pids);
		if (rc == 0) {
			sum->foreign += foreign;
			return 0;
		}
		if (rc > 0)
			rc = kern_adopt(run->kern, -1, run->id, sum, err);
		if (rc == 0 && clock_boot_ns() > until_ns)
			rc = err_say(err, ERR_BUSY, -ETIMEDOUT,
				     "the group grows faster than it can be adopted");
	}
	return rc;
}
