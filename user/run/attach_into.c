/* SPDX-License-Identifier: Apache-2.0 */
#include "run/attach_into.h"

#include <errno.h>
#include <unistd.h>

#include "base/own.h"
#include "run/attach_target.h"
#include "run/meta.h"

static int check_label(struct kern *k, int pidfd, pid_t pid, struct err *err)
{
	char text[SBX_ID_LEN + 1];
	uint64_t label;
	int rc = kern_label_of(k, pidfd, &label);

	if (rc)
		return attach_target_refuse(pid, -ESRCH, "has ended", err);
	if (!label)
		return 0;
	kern_id_text(label, text);
	return err_say(err, ERR_BUSY, -EBUSY, "process %d is in run '%s' already", (int)pid, text);
}

static int ended(const struct rundir *d, struct err *err)
{
	return err_say(err, ERR_NOT_FOUND, -ESRCH, "run '%s' has ended", d->id);
}

static int hand_over(struct kern *k, uint64_t id, int pidfd, struct kern_adopted *out,
		     const struct rundir *d, struct err *err)
{
	struct sbx_sandbox before, after;
	int rc;

	if (kern_sandbox_read(k, id, &before) || before.flags & (SBX_DYING | SBX_ENDING))
		return ended(d, err);
	rc = kern_adopt(k, pidfd, id, out, err);
	if (rc)
		return rc;
	if (kern_sandbox_read(k, id, &after))
		return ended(d, err);
	out->threads = (unsigned int)(after.live - before.live);
	out->processes = (unsigned int)(after.processes - before.processes);
	return 0;
}

/* The keeper must not become a member of what it keeps. */
static int find_outside(const struct rundir *d, pid_t outside[3], struct err *err)
{
	struct meta m;
	int rc = meta_read(&m, d, err);

	if (rc)
		return rc;
	outside[0] = getpid();
	outside[1] = getppid();
	outside[2] = m.keeper_pid;
	meta_done(&m);
	return 0;
}

int attach_into(const struct rundir *d, pid_t pid, struct kern_adopted *out, struct err *err)
{
	struct kern *k = NULL;
	pid_t outside[3];
	own_fd pidfd = -1;
	uint64_t id;
	int rc = kern_id_parse(d->id, &id);

	if (rc)
		return err_set(err, rc, "'%s' is not the id of a run", d->id);
	rc = find_outside(d, outside, err);
	if (rc == 0) {
		pidfd = attach_target_open(pid, outside, 3, err);
		rc = pidfd < 0 ? pidfd : kern_open(&k, err);
	}
	if (rc == 0)
		rc = check_label(k, pidfd, pid, err);
	if (rc == 0)
		rc = hand_over(k, id, pidfd, out, d, err);
	kern_close(k);
	return rc;
}
