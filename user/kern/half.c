/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/half.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/own.h"

const char *const half_pin_names[HALF_PINS] = {
	[HALF_FACTS] = "facts",
	[HALF_SANDBOXES] = "sandboxes",
	[HALF_CREATE] = "sandbox_create",
	[HALF_CONTROL] = "sandbox_control",
	[HALF_TASKS] = "tasks",
	[HALF_RINGS] = "rings",
	[HALF_STATS] = "stats",
	[HALF_THREADS] = "task_threads",
	[HALF_DENIALS] = "denials",
	[HALF_FS_LIVE] = "fs_live",
	[HALF_FS_OBJECTS] = "fs_objects",
	[HALF_FS_ENTRIES] = "fs_entries",
	[HALF_FS_FILTER] = "fs_filter",
	[HALF_FILTER] = "row_filter",
	[HALF_VIEW] = "view_tasks",
	[HALF_ADOPT] = "adopt_tasks",
	[HALF_LET_GO] = "sandbox_let_go",
	[HALF_FS_INODES] = "fs_inodes",
	[HALF_NET_LIVE] = "net_live",
	[HALF_NET_RULES] = "net_rules",
	[HALF_NET_NAMED] = "net_named",
	[HALF_NET_UNIX] = "net_unix",
	[HALF_NET_EGRESS] = "net_group_egress",
	[HALF_NET_INGRESS] = "net_group_ingress",
};

static int get(const char *dir, enum half_pin pin)
{
	char path[224];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, half_pin_names[pin]);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

int half_fd(struct kern *k, enum half_pin pin)
{
	if (k->fds[pin] < 0)
		k->fds[pin] = get(k->dir, pin);
	return k->fds[pin];
}

int half_run(int prog_fd, void *args, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = (__u32)size);

	return bpf_prog_test_run_opts(prog_fd, &opts) ? -errno : 0;
}

int half_control(struct kern *k, uint64_t sandbox, uint32_t what)
{
	struct sbx_control c = { .sandbox = sandbox, .what = what };
	int fd = half_fd(k, HALF_CONTROL);
	int rc = fd < 0 ? fd : half_run(fd, &c, sizeof(c));

	return rc ? rc : c.error;
}

#define INIT_PID_NS_INODE 0xEFFFFFFCu /* PROC_PID_INIT_INO of the kernel */

bool half_host_pids(struct kern *k)
{
	struct stat st;

	if (k->pids == PIDS_UNKNOWN)
		k->pids = stat("/proc/self/ns/pid", &st) || st.st_ino == INIT_PID_NS_INODE
				  ? PIDS_HOST
				  : PIDS_CONTAINER;
	return k->pids == PIDS_HOST;
}

/* ---- iter/task ------------------------------------------------------------------------------ */

int half_iter(int prog_fd, int pidfd)
{
	union bpf_iter_link_info info = { .task = { .pid_fd = pidfd < 0 ? 0 : (__u32)pidfd } };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = pidfd < 0 ? NULL : &info,
		    .iter_info_len = pidfd < 0 ? 0 : sizeof(info));
	own_fd link = bpf_link_create(prog_fd, 0, BPF_TRACE_ITER, &opts);
	int fd;

	if (link < 0)
		return errno == EINVAL ? -ESRCH : -errno; /* the process is gone */
	fd = bpf_iter_create(link);
	return fd < 0 ? -errno : fd;
}

static void note(struct half_threads *out, const struct sbx_thread *t)
{
	out->count++;
	if (t->sandbox && !out->sandbox)
		out->sandbox = t->sandbox;
	if (t->error && !out->error)
		out->error = t->error;
}

static int read_threads(int fd, struct half_threads *out)
{
	struct sbx_thread buf[64];
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, (char *)buf + have, sizeof(buf) - have)) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
		for (size_t i = 0; i < have / sizeof(buf[0]); i++)
			note(out, &buf[i]);
		if (have % sizeof(buf[0])) {
			struct sbx_thread part = buf[have / sizeof(buf[0])];

			buf[0] = part;
		}
		have %= sizeof(buf[0]);
	}
	return out->count ? 0 : -ESRCH;
}

int half_threads(struct kern *k, int pidfd, uint64_t sandbox, uint32_t what,
		 struct half_threads *out)
{
	int prog = half_fd(k, HALF_THREADS), rc;
	own_fd iter = -1;

	*out = (struct half_threads){ 0 };
	if (prog < 0)
		return prog;
	iter = half_iter(prog, pidfd);
	if (iter < 0)
		return iter;
	/* After what can fail: the request is taken back by the end of the walk. */
	rc = half_control(k, sandbox, what);
	return rc ? rc : read_threads(iter, out);
}

/* ---- retirement ----------------------------------------------------------------------------- */

#define START_NS 10000000000ull /* a keeper makes the row first, and forks well within this */

static bool lives(const struct sbx_sandbox *row)
{
	if (row->live)
		return true;
	return !row->root_pid && clock_boot_ns() - row->created_ns < START_NS;
}

/* Another build may have rows of another size under the same ABI number: they are not ours to read. */
static bool is_readable(int map_fd, size_t value_size)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(map_fd, &info, &len) && info.value_size == value_size;
}

static int any_lives(int sandboxes_fd, bool *live)
{
	struct sbx_sandbox row;
	__u64 key, *at = NULL;

	*live = false;
	while (!*live && !bpf_map_get_next_key(sandboxes_fd, at, &key)) {
		if (!bpf_map_lookup_elem(sandboxes_fd, &key, &row))
			*live = lives(&row);
		at = &key;
	}
	return *live || errno == ENOENT ? 0 : -errno;
}

static int set_gone(int facts_fd, __u32 gone)
{
	struct sbx_facts f;
	__u32 zero = 0;

	if (bpf_map_lookup_elem(facts_fd, &zero, &f))
		return -errno;
	f.gone = gone;
	return bpf_map_update_elem(facts_fd, &zero, &f, BPF_ANY) ? -errno : 0;
}

int half_lives(const char *dir, bool *live)
{
	own_fd sandboxes = get(dir, HALF_SANDBOXES);

	*live = false;
	if (sandboxes == -ENOENT)
		return 0;
	if (sandboxes < 0)
		return sandboxes;
	*live = true;
	return is_readable(sandboxes, sizeof(struct sbx_sandbox)) ? any_lives(sandboxes, live) : 0;
}

/* First gone, then the look: a keeper that makes a row meanwhile sees the one, or is seen by
 * the other. */
int half_retire(const char *dir, bool *live)
{
	own_fd facts = get(dir, HALF_FACTS), sandboxes = get(dir, HALF_SANDBOXES);
	int rc;

	*live = false;
	if (facts == -ENOENT || sandboxes == -ENOENT)
		return 0;
	if (facts < 0 || sandboxes < 0) /* out of descriptors, say: it may be full of life */
		return facts < 0 ? facts : sandboxes;
	*live = true;
	if (!is_readable(sandboxes, sizeof(struct sbx_sandbox)) ||
	    !is_readable(facts, sizeof(struct sbx_facts)))
		return 0;
	rc = set_gone(facts, 1);
	if (!rc)
		rc = any_lives(sandboxes, live);
	if (rc || *live)
		set_gone(facts, 0);
	return rc;
}
