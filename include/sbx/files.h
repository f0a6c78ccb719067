/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of file policies: user/kern/files fills them, bpf/fs.bpf.c decides by them. Fixed widths,
 * no pointers, sizes asserted on both sides; part of SBX_ABI.
 *
 * The rows of one policy share a generation. A policy is in force when a sandbox's row names its
 * generation, and is replaced by one store of another.
 */
#ifndef SBX_FILES_H
#define SBX_FILES_H

#include "sbx/event.h"

#define SBX_MAX_FS_OBJECTS 131072
#define SBX_MAX_FS_ENTRIES 131072
#define SBX_FS_NAME 32	  /* with its terminator; the rest is zero */
#define SBX_FS_DEPTH 1024 /* directories above an object; beyond: refused */

/* Rights; as enum file_right of user/policy. */
enum { SBX_FS_READ = 1 << 0, SBX_FS_WRITE = 1 << 1, SBX_FS_EXEC = 1 << 2 };

/* What holds for a whole policy: the low byte of its generation. */
enum {
	SBX_FS_AUDIT = 1 << 0,	   /* logs, refuses nothing */
	SBX_FS_ANYWHERE = 1 << 1,  /* has entry rules for any depth */
	SBX_FS_ANON_EXEC = 1 << 2, /* a memfd may be executed: so may a file that can be written */
	SBX_FS_EXEC_ALL = 1 << 3,  /* no rule takes execute away */
};
#define SBX_FS_FLAGS_BITS 8

/* sbx_fs_object.flags */
enum {
	SBX_FS_RULE = 1 << 0,	 /* rights and rule hold for it and what is below it */
	SBX_FS_ENTRIES = 1 << 1, /* has entry rules */
	SBX_FS_PINNED = 1 << 2,	 /* stays where it is: a rule below would be moved with it */
};

struct sbx_fs_key {
	__u64 generation;
	__u64 inode; /* address of the kernel's inode */
};

struct sbx_fs_object {
	__u64 ino; /* with dev: still the inode that was meant; another one is refused */
	__u32 dev;
	__u32 rule; /* index in the policy */
	__u32 rights;
	__u32 flags;
};

struct sbx_fs_entry_key {
	__u64 generation;
	__u64 parent; /* inode of the directory; 0: any */
	char name[SBX_FS_NAME];
};

struct sbx_fs_entry {
	__u32 rights;
	__u32 rule;
};

/*
 * A counter for each look-up that rows may answer: 0 says that there is no such row, so that most
 * steps of a walk need none. Each row counts from before it is inserted until after it is deleted;
 * rows that share a cell cost a look-up. A full cell stays full.
 */
#define SBX_FS_CELLS_BITS 18
struct sbx_fs_filter {
	__u8 cells[1 << SBX_FS_CELLS_BITS];
};
#define SBX_FS_CELL_FULL 255

static inline __u64 sbx_fs_cell(__u64 mixed)
{
	return mixed * 0x9e3779b97f4a7c15ull >> (64 - SBX_FS_CELLS_BITS);
}

/* `inode`, `parent`: the lower half of the address. */
static inline __u64 sbx_fs_object_cell(__u64 generation, __u32 inode)
{
	return sbx_fs_cell(generation ^ inode);
}

/* `word`: the first eight bytes of the name, zero after its end; `len`: its length. */
static inline __u64 sbx_fs_entry_cell(__u64 generation, __u32 parent, __u64 word, __u32 len)
{
	return sbx_fs_cell(generation ^ parent ^ (word + len));
}

/* One descriptor of the asking process, as iter/task_file reports it. */
struct sbx_fs_inode {
	__u64 inode;
	__u64 ino;
	__u32 dev;
	__u32 fd;
};

SBX_ASSERT(sizeof(struct sbx_fs_key) == 16, "sbx_fs_key crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_fs_object) == 24, "sbx_fs_object crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_fs_entry_key) == 48, "sbx_fs_entry_key crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_fs_entry) == 8, "sbx_fs_entry crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_fs_filter) == 262144, "sbx_fs_filter crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_fs_inode) == 24, "sbx_fs_inode crosses the boundary");

#endif
