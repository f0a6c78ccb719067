/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kern: the kernel half as a value: load-or-reuse, and the rows of sandboxes and tasks.
 *
 * One kernel half a host (a mount namespace), loaded by whoever is first, pinned in bpffs below
 * sbx/<abi>/<build>, reused under a lock. SBX_BPFFS names the bpffs; else it is
 * SBX_RUN_DIR/bpf, a mount and a half of its own; else /sys/fs/bpf when that is one; else our
 * mount on /run/sbx/bpf. Numbers in rows and records are those of the initial pid namespace.
 * Never writes to cgroups; signals only in kern_signal_tree.
 */
#ifndef KERN_KERN_H
#define KERN_KERN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sbx/kern.h"

struct kern;

/* Loads or reuses. Errors name what the host lacks and the remedy: BTF (CONFIG_DEBUG_INFO_BTF),
 * bpffs, CAP_BPF and CAP_PERFMON (root), kernel older than 6.1. A failed load leaves no pin. */
int kern_open(struct kern **out, struct err *err);
void kern_close(struct kern *k);
/* Detaches and unpins everything; -EBUSY (text names the live ones) while a sandbox lives. */
int kern_unload(struct err *err);

/* What a probe at load found; cached in the pins. */
struct kern_facts {
	bool lsm;		/* BPF LSM programs attached: tier A */
	char lsm_detail[128];	/* why not: "bpf_prog_load(lsm): EPERM" … */
	char files_detail[128]; /* why file policies were found not to work; "" when they do, or
				 * nobody has asked (kern/files.h) */
	char net_detail[128];	/* likewise, of network policies (kern/net.h) */
	bool exit_hook_kills;	/* bpf_send_signal_task works in the exit hook */
	char exit_hook_detail[128];
	unsigned int hook_copies; /* of the tp_btf hooks: 3 where they may be skipped */
	bool loaded_now;	  /* this call loaded it (for timing) */
	char build_id[72];
	char pin_dir[160];
};
const struct kern_facts *kern_facts(const struct kern *k);

/* 50 random bits (never 0) and their 10 base32 characters (a-z2-7). */
#define SBX_ID_LEN 10
uint64_t kern_id_new(void);
void kern_id_text(uint64_t id, char text[SBX_ID_LEN + 1]);
int kern_id_parse(const char *text, uint64_t *id);

struct kern_sandbox_opts {
	uint64_t max_execs, max_depth; /* 0: none */
	uint64_t cgroup_id;
	uint32_t cgroup_level;
	uint32_t owner_tgid; /* 0: none; watched by the exit hook as well as the keeper */
	bool keeper_owns;    /* a dead keeper kills the tree: every launched run */
	bool want_events;
};
/* Makes the row of `*id` (0: a fresh one; names of groups and directories are made from the id
 * before the row), a ring slot when wanted, owner rows, and seeds the calling thread's next
 * child with it. When the caller is itself inside a sandbox, that one becomes the parent (at
 * most SBX_MAX_NEST deep). An owner may have died before it was registered: poll its pidfd once
 * more. -ENOSPC when a map is full. Leaves nothing behind on failure. */
int kern_sandbox_create(struct kern *k, const struct kern_sandbox_opts *opts, uint64_t *id,
			struct err *err);
/* Whether `pid` (of a child still blocked) is the labelled root; labels it through iter/task
 * when the fork hook was skipped. -EPROTO when it cannot be labelled: then it must not be
 * released. */
int kern_sandbox_verify_root(struct kern *k, uint64_t id, pid_t pid, int pidfd, struct err *err);
/* -ENOENT when there is no such sandbox. */
int kern_sandbox_read(struct kern *k, uint64_t id, struct sbx_sandbox *out);
/* From now on forks in it, and in sandboxes inside, are refused (A) or killed at birth (B,
 * where the kernel can): after a grace in which the tree may still clean up, not before.
 * -ENOENT as above. */
int kern_sandbox_set_dying(struct kern *k, uint64_t id);
/* For the keepers of sandboxes inside: why they are told to end, and until when they may run. */
int kern_sandbox_set_ending(struct kern *k, uint64_t id);
int kern_sandbox_set_deadline(struct kern *k, uint64_t id, uint64_t deadline_ns);
/* The caller's next child is not its root: that runs already. */
int kern_sandbox_unseed(struct kern *k, uint64_t id);
/* Removes the row, and with it the ring slot and the seed that nobody took. Idempotent. */
int kern_sandbox_delete(struct kern *k, uint64_t id);
/* Ids of all rows; *count in: capacity, out: found. */
int kern_sandbox_list(struct kern *k, uint64_t *ids, size_t *count);

/* Labels every thread of a process; the first process becomes the root. -EBUSY when it belongs to
 * another sandbox, -ESRCH when it is gone. */
int kern_label_pidfd(struct kern *k, int pidfd, uint64_t id, struct err *err);
/* Sandbox of a process, 0 when none. */
int kern_label_of(struct kern *k, int pidfd, uint64_t *id);

struct kern_adopted {
	unsigned int threads, processes; /* that it has now */
	unsigned int foreign;		 /* processes right below it that are of other sandboxes */
	unsigned int passes;
};
/* Labels every thread of a process that runs already and of all its descendants, also while they fork. Each error as
 * of kern_label_pidfd; -ETIMEDOUT when it does not end. What it labelled stays so: let it go. */
int kern_adopt(struct kern *k, int pidfd, uint64_t id, struct kern_adopted *out, struct err *err);
/* The opposite: members become what they were, of the sandbox around or of none. Nobody is signalled. -ECANCELED when
 * they are being killed. */
int kern_let_go(struct kern *k, uint64_t id);

/* Calls fn for every thread row of sandbox `id` and of those inside it (0: of all); O(tracked).
 * What comes or goes meanwhile may be missed. A return other than 0 ends the walk and is
 * returned. */
int kern_tasks_each(struct kern *k, uint64_t id, int (*fn)(void *arg, const struct sbx_task *task),
		    void *arg);

/* Sends `sig` to every process of the sandbox through a pidfd that is proven to be a member.
 * Members of sandboxes inside are of it. Counts out rows whose process is gone. Returns the number
 * signalled or a negative errno. */
int kern_signal_tree(struct kern *k, uint64_t id, int sig);

#endif
