/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Records shared by the kernel half (bpf/) and user space (user/kern/).
 *
 * Fixed widths, no pointers, explicit padding, sizes asserted on both sides. A change of any size
 * or meaning here is a new SBX_ABI: the pins of another ABI live in another directory.
 */
#ifndef SBX_KERN_H
#define SBX_KERN_H

#include "sbx/event.h"

#define SBX_ABI 3

/* Bounds. A full map means the fork or the run is refused, never that something goes untracked. */
#define SBX_MAX_TASKS 131072
#define SBX_MAX_TASKS_PER_SANDBOX (SBX_MAX_TASKS / 10)
#define SBX_MAX_SANDBOXES 4096
#define SBX_MAX_OWNERS (2 * SBX_MAX_SANDBOXES)
#define SBX_MAX_RINGS 1024
#define SBX_RING_BYTES (128 * 1024)
#define SBX_RING_WAKE_BYTES (SBX_RING_BYTES / 4) /* a reader is woken when this much waits */
#define SBX_MAX_NEST 8
#define SBX_KILL_PASS_NS 15000000 /* one pass of the exit hook: about 1,000 signals … */
#define SBX_KILL_PASS_MIN 256	  /* … and at least so many on a slow machine */

/* sbx_task.flags */
enum {
	SBX_TASK_KEEPER = 1 << 0, /* row of a keeper: `seed` names the sandbox of its next child */
	SBX_TASK_ROOT = 1 << 1,	  /* first process of its sandbox */
	SBX_TASK_BORN_DYING = 1 << 2,
	SBX_TASK_PROCESS = 1 << 3, /* the thread that counts for its process in live_processes */
	SBX_TASK_EMBRYO = 1 << 4,  /* made in task_alloc: pid, tgid and start are not known yet */
	SBX_TASK_GONE = 1 << 5,	   /* counted out, but the row could not be deleted */
};

/* One row a thread, keyed by the task_struct's address; a look-up compares start_ns. */
struct sbx_task {
	__u64 start_ns; /* task->start_boottime, rewritten by exec */
	__u64 sandbox;	/* 0: in none (a keeper outside every sandbox) */
	__u64 seed;	/* keepers only: sandbox of the next child, consumed by the fork */
	__u32 pid;	/* thread id, as the init pid namespace sees it */
	__u32 tgid;
	__u32 flags;
	__u32 depth;   /* forks between the outermost root process and this one */
	__u32 exec_id; /* task->self_exec_id of the last exec that was counted */
	__u32 signal;  /* bits of its signal_struct's address: with tgid, names the process */
};

/* sbx_sandbox.flags */
enum {
	SBX_DYING = 1 << 0,	      /* forks are refused, or born dying and killed */
	SBX_KILL_WITH_OWNER = 1 << 1, /* the death of owner_tgid kills it */
	SBX_ROOT_EXITED = 1 << 2,     /* root_* receipt below is valid */
	SBX_OWNER_DIED = 1 << 3,      /* set by the exit hook of owner or keeper */
	SBX_EXECS_HIT = 1 << 4,	      /* max_execs was crossed: the sandbox is dying */
	SBX_DEPTH_HIT = 1 << 5,
	SBX_TASKS_HIT = 1 << 6,	       /* a row could not be made: the sandbox is dying */
	SBX_KILL_WITH_KEEPER = 1 << 7, /* the death of keeper_tgid kills it */
	SBX_KILLING = 1 << 8,	       /* the kernel half sends SIGKILL to every member itself */
	SBX_ANCESTOR_DIED = 1 << 9,    /* dying because a sandbox around it is */
	SBX_FILES_UNHELD =
		1 << 10,	/* nobody holds the objects of its file policy: all is refused */
	SBX_REPORTED = 1 << 11, /* what its system calls are refused is noted (bpf/report) */
	SBX_ENDING = 1 << 12,	/* its keeper has begun to end it; forks are not refused yet */
};

/*
 * Counters include those of the sandboxes inside it, so that live 0 means that the whole tree
 * is gone.
 */
struct sbx_sandbox {
	__u64 id;
	__u64 parent;	  /* 0: outermost */
	__u64 created_ns; /* CLOCK_BOOTTIME */
	__u64 cgroup_id;  /* of the v2 group, 0 when none; members elsewhere are escapes */
	__u64 max_execs;  /* 0: no limit */
	__u64 live;	  /* threads that have a row */
	__u64 live_peak;
	__u64 processes; /* ever, root included */
	__u64 live_processes;
	__u64 live_processes_peak;
	__u64 execs;
	__u64 exits;	      /* processes that ended */
	__u64 killed;	      /* SIGKILLs the kernel half sent itself */
	__u64 escapes;	      /* processes seen outside the group when they ended */
	__u64 events_dropped; /* ring full */
	__u64 root_start_ns;
	__u64 root_exit_ns;	/* receipt */
	__u64 files_generation; /* of the file policy in force (sbx/files.h); 0: none */
	__u64 files_next;	/* whose rows are being filled */
	__u64 net_generation;	/* of the network policy in force (sbx/net.h); 0: none */
	__u64 net_next;		/* whose rows are being filled */
	__u64 net_space;	/* cookie of the network namespace that is its own, 0: none */
	__u64 denials;		/* acts refused, or logged by an audit */
	__u64 denials_dropped;	/* of these, without a row in `denials` */
	__u64 deadline_ns;	/* CLOCK_BOOTTIME, kept by the keeper; 0: none */
	__u32 root_pid;
	__u32 root_status; /* as waitpid(2) returns it */
	__u32 keeper_tgid;
	__u32 owner_tgid; /* 0: none in the kernel half */
	__u32 max_depth;  /* 0: no limit */
	__u32 cgroup_level;
	__u32 ring; /* slot in `rings`, SBX_NO_RING when none */
	__u32 flags;
	__u32 nest;	     /* 0: outermost */
	__u32 base_depth;    /* depth of its root */
	__u32 files_holder;  /* process that keeps the objects of the file policy, 0: it is dead */
	__u32 denial_rows;   /* in `denials` */
	__u32 files_watcher; /* another one that keeps them */
	__u32 pad;
};
#define SBX_NO_RING 0xffffffffu

SBX_ASSERT(sizeof(struct sbx_task) == 48, "sbx_task crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_sandbox) == 256, "sbx_sandbox crosses the boundary");

#endif
