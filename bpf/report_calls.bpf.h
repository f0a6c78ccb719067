/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * report_calls: where the system calls of x86-64 that name a path or a socket carry it. Other machines
 * number them otherwise.
 */
#ifndef REPORT_CALLS_BPF_H
#define REPORT_CALLS_BPF_H

#include "sbx/denial.h"

#define REPORT_CALLS 512

/* Numbers of arguments, 1 the first; 0: there is none, for a directory the current one. */
struct report_call {
	__u8 act;      /* enum sbx_act, 0: not of interest, unless `flags` tell */
	__u8 at, path; /* of a socket's peer: its length, and its address; at 0: a struct msghdr */
	__u8 at2, path2;
	__u8 flags;	   /* of an open */
	__u8 flags_behind; /* they are the first word of what the argument points to */
};

#define ONE(what, dir, name)                               \
	{                                                  \
		.act = (what), .at = (dir), .path = (name) \
	}
#define TWO(what, dir, name, dir2, name2)                                                   \
	{                                                                                   \
		.act = (what), .at = (dir), .path = (name), .at2 = (dir2), .path2 = (name2) \
	}

static const struct report_call report_calls[REPORT_CALLS] = {
	[2] = { .path = 1, .flags = 2 },			       /* open */
	[41] = { .act = SBX_ACT_SOCKET },			       /* socket */
	[42] = ONE(SBX_ACT_CONNECT, 3, 2),			       /* connect */
	[44] = ONE(SBX_ACT_SEND, 6, 5),				       /* sendto */
	[46] = ONE(SBX_ACT_SEND, 0, 2),				       /* sendmsg */
	[53] = { .act = SBX_ACT_SOCKET },			       /* socketpair */
	[59] = ONE(SBX_ACT_EXECUTE, 0, 1),			       /* execve */
	[76] = ONE(SBX_ACT_TRUNCATE, 0, 1),			       /* truncate */
	[80] = ONE(SBX_ACT_READ, 0, 1),				       /* chdir */
	[82] = TWO(SBX_ACT_RENAME, 0, 1, 0, 2),			       /* rename */
	[83] = ONE(SBX_ACT_CREATE, 0, 1),			       /* mkdir */
	[84] = ONE(SBX_ACT_REMOVE, 0, 1),			       /* rmdir */
	[85] = ONE(SBX_ACT_WRITE, 0, 1),			       /* creat */
	[86] = TWO(SBX_ACT_LINK, 0, 1, 0, 2),			       /* link */
	[87] = ONE(SBX_ACT_REMOVE, 0, 1),			       /* unlink */
	[88] = ONE(SBX_ACT_CREATE, 0, 2),			       /* symlink */
	[90] = ONE(SBX_ACT_METADATA, 0, 1),			       /* chmod */
	[92] = ONE(SBX_ACT_METADATA, 0, 1),			       /* chown */
	[94] = ONE(SBX_ACT_METADATA, 0, 1),			       /* lchown */
	[132] = ONE(SBX_ACT_METADATA, 0, 1),			       /* utime */
	[133] = ONE(SBX_ACT_CREATE, 0, 1),			       /* mknod */
	[188] = ONE(SBX_ACT_XATTR, 0, 1),			       /* setxattr */
	[189] = ONE(SBX_ACT_XATTR, 0, 1),			       /* lsetxattr */
	[197] = ONE(SBX_ACT_XATTR, 0, 1),			       /* removexattr */
	[198] = ONE(SBX_ACT_XATTR, 0, 1),			       /* lremovexattr */
	[235] = ONE(SBX_ACT_METADATA, 0, 1),			       /* utimes */
	[257] = { .at = 1, .path = 2, .flags = 3 },		       /* openat */
	[258] = ONE(SBX_ACT_CREATE, 1, 2),			       /* mkdirat */
	[259] = ONE(SBX_ACT_CREATE, 1, 2),			       /* mknodat */
	[260] = ONE(SBX_ACT_METADATA, 1, 2),			       /* fchownat */
	[261] = ONE(SBX_ACT_METADATA, 1, 2),			       /* futimesat */
	[263] = ONE(SBX_ACT_REMOVE, 1, 2),			       /* unlinkat */
	[264] = TWO(SBX_ACT_RENAME, 1, 2, 3, 4),		       /* renameat */
	[265] = TWO(SBX_ACT_LINK, 1, 2, 3, 4),			       /* linkat */
	[266] = ONE(SBX_ACT_CREATE, 2, 3),			       /* symlinkat */
	[268] = ONE(SBX_ACT_METADATA, 1, 2),			       /* fchmodat */
	[280] = ONE(SBX_ACT_METADATA, 1, 2),			       /* utimensat */
	[316] = TWO(SBX_ACT_RENAME, 1, 2, 3, 4),		       /* renameat2 */
	[322] = ONE(SBX_ACT_EXECUTE, 1, 2),			       /* execveat */
	[437] = { .at = 1, .path = 2, .flags = 3, .flags_behind = 1 }, /* openat2 */
	[452] = ONE(SBX_ACT_METADATA, 1, 2),			       /* fchmodat2 */
	[463] = ONE(SBX_ACT_XATTR, 1, 2),			       /* setxattrat */
	[466] = ONE(SBX_ACT_XATTR, 1, 2),			       /* removexattrat */
};

#undef ONE
#undef TWO

#endif
