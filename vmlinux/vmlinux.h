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
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };
enum { BPF_SK_STORAGE_GET_F_CREATE = 1 };
enum { BPF_F_CURRENT_NETNS = -1 };

enum {
	EPERM = 1,
	ENOENT = 2,
	EAGAIN = 11,
	EACCES = 13,
	EBUSY = 16,
	EEXIST = 17,
	EXDEV = 18,
	EINVAL = 22,
	ENOSPC = 28,
	EROFS = 30,
	ELOOP = 40,
	ECONNREFUSED = 111,
	ESTALE = 116,
	ECANCELED = 125,
};
enum { SIGKILL = 9 };
enum { CLONE_THREAD = 0x00010000 };
#define CLONE_INTO_CGROUP 0x200000000ULL
enum { PF_EXITING = 0x00000004 }; /* linux/sched.h: do_exit has begun */
enum {
	PF_IO_WORKER = 0x00000010
}; /* linux/sched.h: of io_uring, its credentials may be a request's */
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

struct cred; /* only whether two are the same */

struct thread_info { /* x86 */
	u32 status;  /* TS_COMPAT */
};
enum { TS_COMPAT = 0x0002 }; /* asm/thread_info.h: a system call by the numbers of 32 bits */

struct pt_regs { /* x86: number and arguments of a system call */
	unsigned long di;
	unsigned long si;
	unsigned long dx;
	unsigned long r10;
	unsigned long r8;
	unsigned long r9;
	unsigned long orig_ax;
};

struct task_struct {
	struct thread_info thread_info;	  /* TS_COMPAT */
	unsigned int flags;		  /* PF_EXITING, PF_IO_WORKER */
	unsigned int __state;		  /* for who looks on: runs, sleeps, waits */
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
	const struct cred *real_cred;	  /* its own */
	const struct cred *cred; /* in force: another's while the kernel acts for a mount */
};

struct super_block {
	u32 s_dev;	       /* with i_ino: whether a rule's inode is still the one meant */
	unsigned long s_flags; /* SB_KERNMOUNT, SB_NOUSER: decided by kind */
	unsigned long s_magic; /* which kind; overlayfs, whose mounting is refused */
};

struct inode {
	unsigned short i_mode;	  /* regular files and directories: whose ioctls change things */
	struct super_block *i_sb; /* s_dev */
	unsigned int i_rdev;	  /* dev_t: which device it is */
	unsigned long i_ino;	  /* see s_dev */
};

struct qstr {
	u32 hash; /* tells two absent names of a directory apart in a denial */
	u32 len;  /* a name that an entry rule can have is stored in the dentry itself */
};

struct dentry {
	unsigned int
		d_flags; /* DCACHE_OP_HASH, DCACHE_OP_COMPARE: names are not compared byte by byte */
	struct dentry *d_parent;   /* the walk */
	struct qstr d_name;	   /* len, hash */
	struct inode *d_inode;	   /* the object; NULL: no such entry yet */
	unsigned char d_iname[32]; /* the name when it is short; until 6.13 */
	struct super_block *d_sb;  /* kind of an object whose walk found no rule */
};

union shortname_store {
	unsigned char string[32];
};

struct dentry___short { /* since 58cf9c383c5c ("dcache: back inline names with a struct-wrapped array") */
	union shortname_store d_shortname; /* d_iname before */
};

struct path {
	struct dentry *dentry; /* where the walk begins */
};

struct file {
	unsigned int f_mode;  /* what is asked for; FMODE_BACKING: an open inside another */
	unsigned int f_flags; /* __FMODE_EXEC */
	struct path f_path;   /* dentry */
};

struct vm_area_struct {
	struct file *vm_file; /* what is being made executable */
};

struct iattr {
	unsigned int ia_valid; /* ATTR_SIZE: a truncation, for the denial's text */
};

struct linux_binprm {
	struct file *file; /* what is executed */
};

struct seq_file;   /* bpf_seq_write of the iterator's answer */
struct mnt_idmap;  /* argument of newer hooks, not read */
struct posix_acl;  /* argument, not read */
struct file_kattr; /* argument, not read */

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task { /* context of iter/task */
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file { /* context of iter/task_file */
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	u32 fd;
	struct file *file;
};

struct net {
	u64 net_cookie; /* whether a socket is in the sandbox's own namespace */
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	unsigned short skc_family;	   /* which kind */
	__be32 skc_rcv_saddr;		   /* where it listens */
	unsigned short skc_num;		   /* … its port; 0: not bound */
	struct in6_addr skc_v6_rcv_saddr; /* … IPv6 */
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_type;	 /* stream or datagram */
	u16 sk_protocol; /* TCP or UDP */
};

struct socket {
	struct sock *sk;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108]; /* of an abstract socket: a zero, then the name */
};

struct unix_address {
	int len;		     /* how much of the name is there */
	struct sockaddr_un name[]; /* the name */
};

struct unix_sock {
	struct unix_address *addr; /* an abstract socket's name; NULL: not bound */
	struct path path;	   /* a pathname socket's object */
	struct sock *peer;	   /* what a datagram socket is connected to */
};

struct msghdr {
	void *msg_name; /* whether an address is there */
	union {
		void *msg_control; /* whether control messages are there */
	};
	unsigned long msg_controllen;
	unsigned int msg_flags;
};

struct sockaddr {
	unsigned short sa_family;
	char sa_data[14];
};

#pragma clang attribute pop

/* Contexts, and what helpers take: user-space ABI. */
struct bpf_sock {
	__u32 bound_dev_if;
	__u32 family;
	__u32 type;
	__u32 protocol;
	__u32 mark;
	__u32 priority;
	__u32 src_ip4;
	__u32 src_ip6[4];
	__u32 src_port; /* host order */
	__be16 dst_port;
	__u16 pad;
	__u32 dst_ip4;
	__u32 dst_ip6[4];
	__u32 state;
	__s32 rx_queue_mapping;
};

struct bpf_sock_addr {
	__u32 user_family;
	__u32 user_ip4;
	__u32 user_ip6[4];
	__u32 user_port; /* network order */
	__u32 family;
	__u32 type;
	__u32 protocol;
	__u32 msg_src_ip4;
	__u32 msg_src_ip6[4];
	struct bpf_sock *sk __attribute__((aligned(8)));
};

struct bpf_sockopt {
	struct bpf_sock *sk __attribute__((aligned(8)));
	void *optval __attribute__((aligned(8)));
	void *optval_end __attribute__((aligned(8)));
	__s32 level;
	__s32 optname;
	__s32 optlen;
	__s32 retval;
};

struct bpf_sock_tuple {
	union {
		struct {
			__be32 saddr;
			__be32 daddr;
			__be16 sport;
			__be16 dport;
		} ipv4;
		struct {
			__be32 saddr[4];
			__be32 daddr[4];
			__be16 sport;
			__be16 dport;
		} ipv6;
	};
};

struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 mark;
	__u32 queue_mapping;
	__u32 protocol; /* network order */
	__u32 vlan_present;
	__u32 vlan_tci;
	__u32 vlan_proto;
	__u32 priority;
	__u32 ingress_ifindex;
	__u32 ifindex;
	__u32 tc_index;
	__u32 cb[5];
	__u32 hash;
	__u32 tc_classid;
	__u32 data;
	__u32 data_end;
	__u32 napi_id;
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
	__u32 data_meta;
	__u64 flow_keys;
	__u64 tstamp;
	__u32 wire_len;
	__u32 gso_segs;
	struct bpf_sock *sk __attribute__((aligned(8)));
};

struct bpf_iter_task { /* the open-coded task iterator, opaque */
	__u64 __opaque[3];
} __attribute__((aligned(8)));

#endif
