// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * report: what mounts, Landlock, the seccomp filter and permissions refused to a tree that is confined
 * by them (tier B), as its system calls return.
 *
 * Hooks and duties
 *   tp_btf/sys_exit  notes refusals that name a path, a kind of socket or a unix socket, for sandboxes
 *                    that asked for it
 *
 * Telemetry, and advisory: the path is what the program wrote, read after the fact, so it may say
 * something else by now; what io_uring's workers were refused is not seen; and the kernel does not
 * say who refused, so user space (kern/report) keeps what the policy explains. Attached while a
 * keeper holds the link, for it costs every system call of the host a branch.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "denial.bpf.h"
#include "rows.bpf.h"
#include "report_calls.bpf.h"
#include "sbx/net.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define AT_FDCWD (-100)
#define O_ACCMODE 3
#define O_CREAT 0100
#define O_TRUNC 01000
#define UNKNOWN_LEN 2 /* of "?/", before a path that is relative to a descriptor */
#define AF_UNIX 1
#define SOCKET_TYPE 0xf /* of socket's second argument; the rest are flags */

/* Id of the link, for the next keeper that needs it; 0: none yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} report_links SEC(".maps");

/* The sandbox of the task, or the nearest around it, that wants reports. */
static __always_inline struct sbx_sandbox *report_sandbox(__u64 id)
{
	struct sbx_sandbox *sb;

	for (int i = 0; i < SBX_MAX_NEST; i++) {
		sb = sandbox_of(id);
		if (!sb || sb->flags & SBX_REPORTED)
			return sb;
		id = sb->parent;
	}
	return NULL;
}

static __always_inline bool is_refusal(long ret)
{
	return ret == -EACCES || ret == -EPERM || ret == -EROFS || ret == -EBUSY || ret == -EXDEV ||
	       ret == -ECONNREFUSED;
}

/* A mount point is busy, and another mount another device; elsewhere both mean something else. A socket that
 * is covered is no file's. */
static __always_inline bool refuses(long ret, __u32 act)
{
	if (ret == -EBUSY)
		return act == SBX_ACT_REMOVE || act == SBX_ACT_RENAME;
	if (ret == -ECONNREFUSED)
		return false;
	return ret != -EXDEV || act == SBX_ACT_RENAME || act == SBX_ACT_LINK;
}

/* The path as the program gave it; its flags, 0 when there is none to read. */
static __always_inline __u32 read_path(char text[SBX_DENIAL_TEXT], const void *path, int dirfd)
{
	const long room = SBX_DENIAL_TEXT - UNKNOWN_LEN;
	char first = 0;
	long len;

	if (bpf_probe_read_user(&first, sizeof(first), path) || !first)
		return 0;
	if (dirfd == AT_FDCWD || first == '/') {
		len = bpf_probe_read_user_str(text, room, path);
	} else {
		text[0] = '?';
		text[1] = '/';
		len = bpf_probe_read_user_str(text + UNKNOWN_LEN, room, path);
	}
	if (len < 0)
		return 0;
	return len == room ? SBX_DENIAL_SYSCALL | SBX_DENIAL_CUT : SBX_DENIAL_SYSCALL;
}

/* FNV-1a, eight bytes at a time. */
static __always_inline __u64 hash_of(const __u64 *words)
{
	__u64 hash = 0xcbf29ce484222325ull;

	for (unsigned int i = 0; i < SBX_DENIAL_TEXT / sizeof(*words); i++)
		hash = (hash ^ words[i]) * 0x100000001b3ull;
	return hash;
}

/* A function of its own, so that its path is on the stack once. */
static __noinline void note(struct sbx_sandbox *sb, __u32 act, __u32 error, const void *path,
			    int dirfd)
{
	struct sbx_denial_key key = { .sandbox = sb->id, .rule = SBX_NO_RULE, .act = act };
	__u64 words[SBX_DENIAL_TEXT / sizeof(__u64)] = {};
	struct sbx_denial *row;
	__u32 flags = read_path((char *)words, path, dirfd);

	if (!flags)
		return;
	key.object = hash_of(words);
	row = denial_put(&key, error, flags) ? denial_row(&key) : NULL;
	if (row)
		__builtin_memcpy(row->text, words, sizeof(words));
}

static __always_inline __u64 argument(const struct pt_regs *regs, __u32 number)
{
	switch (number) {
	case 1:
		return regs->di;
	case 2:
		return regs->si;
	case 3:
		return regs->dx;
	case 4:
		return regs->r10;
	case 5:
		return regs->r8;
	case 6:
		return regs->r9;
	}
	return 0;
}

static __always_inline int directory(const struct pt_regs *regs, __u32 number)
{
	return number ? (int)argument(regs, number) : AT_FDCWD;
}

/* ---- sockets --------------------------------------------------------------------------------- */

static __always_inline void note_net(struct sbx_sandbox *sb, __u32 act, __u32 error, __u64 object,
				     const struct sbx_net_denial *what)
{
	struct sbx_denial_key key = {
		.sandbox = sb->id, .object = object, .rule = SBX_NO_RULE, .act = act
	};
	struct sbx_denial *row = denial_put(&key, error, SBX_DENIAL_SYSCALL | SBX_DENIAL_NET)
					 ? denial_row(&key)
					 : NULL;

	if (row)
		__builtin_memcpy(row->text, what, sizeof(*what));
}

static __noinline void note_kind(struct sbx_sandbox *sb, __u32 error, const struct pt_regs *regs)
{
	struct sbx_net_denial what = { .family = (__u32)regs->di,
				       .type = (__u32)regs->si & SOCKET_TYPE,
				       .protocol = (__u32)regs->dx };

	note_net(sb, SBX_ACT_SOCKET, error,
		 (__u64)what.family << 40 | (__u64)what.type << 32 | what.protocol, &what);
}

/* IPv4 and IPv6 are the network hooks' to tell about. */
static __noinline void note_peer(struct sbx_sandbox *sb, __u32 act, __u32 error,
				 const void *address, __u32 len)
{
	struct sbx_net_denial what = {};
	__u64 hash = 0xcbf29ce484222325ull;
	__u16 family = 0;

	if (len <= sizeof(family) || bpf_probe_read_user(&family, sizeof(family), address) ||
	    family != AF_UNIX)
		return;
	what.family = family;
	len -= sizeof(family);
	if (len > SBX_NET_PATH)
		len = SBX_NET_PATH;
	if (bpf_probe_read_user(what.name, len, address + sizeof(family)))
		return;
	for (unsigned int i = 0; i < sizeof(what.name) / sizeof(hash); i++)
		hash = (hash ^ ((const __u64 *)what.name)[i]) * 0x100000001b3ull;
	if (!what.name[0])
		what.name[0] = '@';
	note_net(sb, act, error, hash, &what);
}

/* What a msghdr begins with. */
struct message {
	const void *name;
	__u32 len;
};

static __always_inline void note_call(struct sbx_sandbox *sb, const struct report_call *c,
				      __u32 error, const struct pt_regs *regs)
{
	struct message to = { (const void *)argument(regs, c->path), (__u32)argument(regs, c->at) };

	if (c->act == SBX_ACT_SOCKET)
		note_kind(sb, error, regs);
	else if (c->at || !bpf_probe_read_user(&to, sizeof(to), to.name))
		note_peer(sb, c->act, error, to.name, to.len);
}

/* ---- the hook -------------------------------------------------------------------------------- */

/* What an open that failed asked for. */
static __always_inline __u32 open_act(const struct pt_regs *regs, const struct report_call *c)
{
	__u64 flags = argument(regs, c->flags);

	if (c->flags_behind &&
	    bpf_probe_read_user(&flags, sizeof(flags), (const void *)argument(regs, c->flags)))
		flags = 0;
	return flags & (O_ACCMODE | O_CREAT | O_TRUNC) ? SBX_ACT_WRITE : SBX_ACT_READ;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(report_sys_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct report_call *c;
	struct sbx_sandbox *sb;
	struct sbx_task *row;
	__u64 number;
	__u32 act;

	if (!is_refusal(ret))
		return 0;
	row = row_of(task);
	sb = row ? report_sandbox(row->sandbox) : NULL;
	number = regs->orig_ax;
	if (!sb || number >= REPORT_CALLS || task->thread_info.status & TS_COMPAT)
		return 0;
	c = &report_calls[number];
	if (c->act >= SBX_ACT_CONNECT) {
		note_call(sb, c, (__u32)-ret, regs);
		return 0;
	}
	act = c->flags ? open_act(regs, c) : c->act;
	if (!act || !refuses(ret, act))
		return 0;
	note(sb, act, (__u32)-ret, (const void *)argument(regs, c->path), directory(regs, c->at));
	if (c->path2)
		note(sb, act, (__u32)-ret, (const void *)argument(regs, c->path2),
		     directory(regs, c->at2));
	return 0;
}
