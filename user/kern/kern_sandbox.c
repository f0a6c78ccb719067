/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of sandboxes: made, read, ended, removed. */
#include "kern/kern.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/half.h"
#include "kern/rings.h"

#define TRIES 4 /* of an id that is taken, and of a half that was unloaded meanwhile */

static int create_error(int rc, struct err *err)
{
	switch (rc) {
	case -ENOSPC:
		return err_say(err, ERR_BUSY, rc,
			       "the tables of the kernel half are full (%d sandboxes, %d owners, "
			       "%d threads): "
			       "sbxctl ps -a shows the sandboxes",
			       SBX_MAX_SANDBOXES, SBX_MAX_OWNERS, SBX_MAX_TASKS);
	case -ELOOP:
		return err_say(err, ERR_VALIDATION, rc, "sandboxes can be nested %d deep",
			       SBX_MAX_NEST);
	case -ECANCELED:
		return err_say(err, ERR_BUSY, rc, "the sandbox this was started in is ending");
	case -EPERM:
	case -EACCES:
		return err_say(err, ERR_PERMISSION, rc,
			       "the kernel refuses to run BPF programs (bpf: %s): run as root with "
			       "CAP_BPF and "
			       "CAP_PERFMON",
			       strerror(-rc));
	case -ESTALE:
		return err_say(
			err, ERR_BUSY, rc,
			"the kernel half was unloaded while this run started: start it again");
	}
	return err_set(err, rc, "make a sandbox in the kernel half");
}

/* One BPF_PROG_RUN: row, ring slot, owners, seed. */
static int create_once(struct kern *k, struct sbx_create *args)
{
	int rc = half_run(k->fds[HALF_CREATE], args, sizeof(*args));

	return rc ? rc : args->error;
}

static int create(struct kern *k, struct sbx_create *args, struct err *err)
{
	bool given = args->id;
	int rc = 0;

	for (int i = 0; i < TRIES; i++) {
		if (rc == -ESTALE && kern_reopen(k, err))
			return -ESTALE;
		if (!given)
			args->id = kern_id_new();
		rc = create_once(k, args);
		if (rc != -ESTALE && (rc != -EEXIST || given))
			break;
	}
	return rc ? create_error(rc, err) : 0;
}

/* More sandboxes at once than ever before: the slot gets its ring now. */
static int make_ring(struct kern *k, const struct sbx_create *args, struct err *err)
{
	int fd, rc;

	if (args->ring == SBX_NO_RING)
		return err_say(err, ERR_BUSY, -ENOSPC, "no event ring is free (%d are in use)",
			       SBX_MAX_RINGS);
	if (args->ring_ready)
		return 0;
	fd = half_fd(k, HALF_RINGS);
	rc = fd < 0 ? fd : rings_put(fd, args->ring);
	if (!rc)
		rc = half_control(k, args->id, SBX_CONTROL_RING_READY);
	return rc ? err_set(err, rc, "make an event ring") : 0;
}

/* In a container the owner's number means another process to the kernel half: a pidfd does not. */
static int register_owner(struct kern *k, uint64_t id, pid_t owner, struct err *err)
{
	own_fd pidfd = (int)syscall(SYS_pidfd_open, owner, 0);
	struct half_threads t;
	int rc = pidfd < 0 ? -errno : half_threads(k, pidfd, id, SBX_CONTROL_OWNER, &t);

	if (!rc)
		rc = t.error;
	return rc ? err_set(err, rc, "register process %d as the owner", owner) : 0;
}

int kern_sandbox_create(struct kern *k, const struct kern_sandbox_opts *opts, uint64_t *id,
			struct err *err)
{
	bool by_number = !opts->owner_tgid || half_host_pids(k);
	struct sbx_create args = {
		.id = *id,
		.max_execs = opts->max_execs,
		.max_depth = opts->max_depth > UINT32_MAX ? UINT32_MAX : (uint32_t)opts->max_depth,
		.cgroup_id = opts->cgroup_id,
		.cgroup_level = opts->cgroup_level,
		.owner_tgid = by_number ? opts->owner_tgid : 0,
		.flags = (opts->keeper_owns ? SBX_KILL_WITH_KEEPER : 0) |
			 (opts->owner_tgid ? SBX_KILL_WITH_OWNER : 0),
		.want_events = opts->want_events,
	};
	int rc = create(k, &args, err);

	if (rc)
		return rc;
	*id = args.id;
	if (opts->want_events)
		rc = make_ring(k, &args, err);
	if (!rc && !by_number)
		rc = register_owner(k, args.id, (pid_t)opts->owner_tgid, err);
	if (rc)
		kern_sandbox_delete(k, args.id);
	return rc;
}

int kern_sandbox_read(struct kern *k, uint64_t id, struct sbx_sandbox *out)
{
	return bpf_map_lookup_elem(k->fds[HALF_SANDBOXES], &id, out) ? -errno : 0;
}

int kern_sandbox_set_dying(struct kern *k, uint64_t id)
{
	return half_control(k, id, SBX_CONTROL_DYING);
}

int kern_sandbox_set_ending(struct kern *k, uint64_t id)
{
	return half_control(k, id, SBX_CONTROL_ENDING);
}

int kern_sandbox_set_deadline(struct kern *k, uint64_t id, uint64_t deadline_ns)
{
	struct sbx_control c = {
		.sandbox = id,
		.what = SBX_CONTROL_DEADLINE,
		.key = deadline_ns,
	};
	int fd = half_fd(k, HALF_CONTROL);
	int rc = fd < 0 ? fd : half_run(fd, &c, sizeof(c));

	return rc ? rc : c.error;
}

int kern_sandbox_unseed(struct kern *k, uint64_t id)
{
	return half_control(k, id, SBX_CONTROL_UNSEED);
}

int kern_sandbox_delete(struct kern *k, uint64_t id)
{
	int rc = half_control(k, id, SBX_CONTROL_DELETE);

	return rc == -ENOENT ? 0 : rc;
}

int kern_sandbox_list(struct kern *k, uint64_t *ids, size_t *count)
{
	size_t found = 0;
	__u64 key, *at = NULL;

	while (found < *count && !bpf_map_get_next_key(k->fds[HALF_SANDBOXES], at, &key)) {
		ids[found++] = key;
		at = &key;
	}
	*count = found;
	return 0;
}

/* The numbers agree only on the host; elsewhere the process itself is asked. */
static bool is_root(struct kern *k, uint64_t id, pid_t pid, int pidfd)
{
	struct sbx_sandbox row;
	uint64_t label;

	if (kern_sandbox_read(k, id, &row) || !row.root_pid)
		return false;
	if (half_host_pids(k))
		return row.root_pid == (uint32_t)pid;
	return !kern_label_of(k, pidfd, &label) && label == id;
}

int kern_sandbox_verify_root(struct kern *k, uint64_t id, pid_t pid, int pidfd, struct err *err)
{
	struct err why = { .text = "" };

	if (is_root(k, id, pid, pidfd))
		return 0;
	/* Every copy of the fork hook was skipped: rare, and mended here since the child is
	 * still blocked. */
	half_control(k, id, SBX_CONTROL_UNSEED);
	if (!kern_label_pidfd(k, pidfd, id, &why) && is_root(k, id, pid, pidfd))
		return 0;
	return err_say(err, ERR_INTERNAL, -EPROTO, "process %d could not be labelled: %s", pid,
		       *why.text ? why.text : "another process took its place");
}
