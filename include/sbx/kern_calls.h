/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * What only the loader and user/kern/ say to the kernel half: requests by BPF_PROG_RUN, facts
 * and ring slots. The rows themselves are in sbx/kern.h.
 */
#ifndef SBX_KERN_CALLS_H
#define SBX_KERN_CALLS_H

#include "sbx/kern.h"

#define SBX_MAX_REQUESTS 256 /* labellings through iter/task under way at once */
#define SBX_DETAIL 128
/* The probe whether hooks are skipped: how long the fork of a process of this name stays in the
 * hook. */
#define SBX_PROBE_SPIN_NS 12000000
#define SBX_PROBE_SPIN_COMM "sbx-probe-spin"

/* Who writes to and reads from the ring in this slot. A sandbox that has no row any more has
 * lost its claim. */
struct sbx_ring_slot {
	__u64 sandbox; /* 0: free */
	__u32 ready;   /* a ring buffer is in the slot of `rings` */
	__u32 pad;
};

/* The slot of a row in `row_filter`, from the lower half of its key. */
#define SBX_FILTER_SHIFT 20
#define SBX_FILTER_SLOTS (1u << (32 - SBX_FILTER_SHIFT))
#define SBX_FILTER_SLOT(bits) ((__u32)(bits)*0x9e3779b1u >> SBX_FILTER_SHIFT)

/* What went wrong in the kernel half, by kind; all 0 on a healthy host. */
struct sbx_stats {
	__u64 insert_failed; /* rows that could not be made */
	__u64 delete_failed; /* rows that could not be deleted at once */
	__u64 stale;	     /* rows of threads whose exit was not seen, found and removed */
	__u64 send_failed;   /* SIGKILLs of the exit hook that the kernel refused */
};

/* SBX_IN_PART: network policies without the hooks of LSM, which the kernel does not load. */
enum sbx_tried { SBX_UNTRIED, SBX_WORKS, SBX_FAILS, SBX_IN_PART };

/* What the loader found out, and whether this half may still be used. */
struct sbx_facts {
	__u32 gone; /* unloaded: no new sandbox */
	__u32 lsm;
	__u32 exit_hook_kills;
	__u32 hook_copies;
	__u32 files; /* file policies: whether the hooks refuse, enum sbx_tried */
	__u32 net;   /* network policies, likewise */
	char lsm_detail[SBX_DETAIL];
	char files_detail[SBX_DETAIL];
	char net_detail[SBX_DETAIL];
	char exit_hook_detail[SBX_DETAIL];
	char build_id[72];
};

/* Arguments and answer of the BPF_PROG_RUN that makes a sandbox. */
struct sbx_create {
	__u64 id;
	__u64 max_execs;
	__u64 cgroup_id;
	__u32 cgroup_level;
	__u32 max_depth;
	__u32 owner_tgid;
	__u32 flags; /* SBX_KILL_WITH_* */
	__u32 want_events;
	/* answer */
	__s32 error;	    /* negative errno, 0 when the row exists and the seed is set */
	__u32 ring;	    /* slot claimed, or SBX_NO_RING */
	__u32 ring_ready;   /* 0: the caller puts a ring buffer into the slot */
	__u32 pid_ns_level; /* of the caller; 0: its pid numbers are the kernel's */
	__u32 pad;
};
/* Other requests about one sandbox, by BPF_PROG_RUN. */
enum {
	SBX_CONTROL_DELETE = 1,
	SBX_CONTROL_DYING = 2,	    /* forks are refused, in the sandboxes inside too */
	SBX_CONTROL_UNSEED = 3,	    /* the caller's next child is not labelled */
	SBX_CONTROL_RING_READY = 4, /* the ring of this sandbox's slot is in place */
	SBX_CONTROL_RETIRE = 5, /* the process of this row is gone: its exit hooks were skipped */
	/* what iter/task does next for the calling thread: */
	SBX_CONTROL_LABEL = 6,
	SBX_CONTROL_OWNER = 7,	 /* register the process as owner */
	SBX_CONTROL_LOOK = 8,	 /* only report */
	SBX_CONTROL_REPORT = 11, /* note what its system calls are refused */
	/* the file policy whose generation is `key`: */
	SBX_CONTROL_FILES_CLAIM = 9,	/* its rows are being filled */
	SBX_CONTROL_FILES_PUBLISH = 10, /* it is in force; the caller holds its objects */
	SBX_CONTROL_FILES_HOLD = 18,	/* the caller holds them as well */
	SBX_CONTROL_ENDING = 12,
	SBX_CONTROL_DEADLINE = 13, /* at `key` */
	/* the network policy whose generation is `key`: */
	SBX_CONTROL_NET_CLAIM = 14,   /* its rows are being filled */
	SBX_CONTROL_NET_PUBLISH = 15, /* it is in force; the namespace is `start_ns` */
};
struct sbx_control {
	__u64 sandbox;
	__u32 what;
	__s32 error;	/* answer */
	__u64 key;	/* SBX_CONTROL_RETIRE, _FILES_*, _NET_*, _DEADLINE */
	__u64 start_ns; /* SBX_CONTROL_RETIRE; SBX_CONTROL_NET_PUBLISH: sbx_sandbox.net_space */
};

/* One thread, as the iter/task program reports it. */
struct sbx_thread {
	__u64 sandbox;
	__u32 pid;
	__u32 tgid;
	__u32 flags; /* of its row */
	__s32 error; /* of the labelling: negative errno */
};

SBX_ASSERT(sizeof(struct sbx_ring_slot) == 16, "sbx_ring_slot crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_stats) == 32, "sbx_stats crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_facts) == 608, "sbx_facts crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_create) == 64, "sbx_create crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_control) == 32, "sbx_control crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_thread) == 24, "sbx_thread crosses the boundary");

#endif
