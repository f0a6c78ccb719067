/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel types as far as bpf/ reads them, trimmed by hand: every field has a reader and says
 * why. Offsets come from the running kernel's BTF (preserve_access_index), so order and gaps do
 * not matter. Constants are user-space ABI.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef int pid_t;
typedef _Bool bool;
enum { false = 0, true = 1 };

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };

enum {
	EPERM = 1,
	ENOENT = 2,
	EAGAIN = 11,
	EBUSY = 16,
	EEXIST = 17,
	EINVAL = 22,
	ENOSPC = 28,
	ELOOP = 40,
	ESTALE = 116,
	ECANCELED = 125,
};
enum { SIGKILL = 9 };
enum { CLONE_THREAD = 0x00010000 };
enum { PF_EXITING = 0x00000004 };	 /* linux/sched.h: do_exit has begun */
enum { SIGNAL_GROUP_EXIT = 0x00000004 }; /* linux/sched/signal.h: group_exit_code is the status */
enum pid_type { PIDTYPE_PID, PIDTYPE_TGID }; /* for a kfunc: the process */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter; /* signal->live */
} atomic_t;

struct sched_entity {
	u64 sum_exec_runtime; /* CPU time of a task, ns */
};

struct pid {
	unsigned int level; /* 0: the initial pid namespace, whose numbers the rows carry */
};

struct core_state; /* only whether there is one */

struct signal_struct {
	atomic_t live;		       /* threads before their exit; 0: the process is dead */
	int nr_threads;		       /* threads not released; 1: no other is in its exit hook */
	int group_exit_code;	       /* the process's status under SIGNAL_GROUP_EXIT */
	unsigned int flags;	       /* SIGNAL_GROUP_EXIT */
	struct core_state *core_state; /* dumping core: SIGNAL_GROUP_EXIT without SIGKILL */
	unsigned long long sum_sched_runtime; /* CPU time of released threads */
};

struct task_struct {
	unsigned int flags;		  /* PF_EXITING */
	struct sched_entity se;		  /* sum_exec_runtime */
	int exit_code;			  /* status of a leader that exited alone */
	pid_t pid;			  /* thread id */
	pid_t tgid;			  /* process id */
	struct task_struct *real_parent;  /* ppid of event records */
	struct task_struct *group_leader; /* name and start of the process */
	struct pid *thread_pid;		  /* level */
	u64 start_boottime;		  /* tells a row of this task from a stale one */
	char comm[16];			  /* event records */
	struct signal_struct *signal;	  /* same signal_struct: same process */
	u64 self_exec_id;		  /* grows by one an exec: counts each once */
};

struct linux_binprm; /* argument of the exec hook, not read */
struct seq_file;     /* bpf_seq_write of the iterator's answer */

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task { /* context of iter/task */
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

struct bpf_iter_task { /* the open-coded task iterator, opaque */
	__u64 __opaque[3];
} __attribute__((aligned(8)));

#endif
