/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * fs_rows: the rows of file policies, and one look at them. The maps are made when the first policy
 * is published.
 */
#ifndef FS_ROWS_BPF_H
#define FS_ROWS_BPF_H

#include "maps.bpf.h"
#include "sbx/denial.h"
#include "sbx/files.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_FS_OBJECTS);
	__type(key, struct sbx_fs_key);
	__type(value, struct sbx_fs_object);
} fs_objects SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SBX_MAX_FS_ENTRIES);
	__type(key, struct sbx_fs_entry_key);
	__type(value, struct sbx_fs_entry);
} fs_entries SEC(".maps") __weak;

/*
 * What follows is plain memory, and the functions that work on it are global (fs_rows.bpf.c): the
 * verifier walks each of them once a program and not for every path that gets there, and takes what
 * they leave for any number.
 */

/* One step of a walk. */
struct fs_step {
	struct sbx_fs_key key; /* of the object at this step */
	__u64 ino;
	__u32 dev;
	__u32 here;		       /* it has entry rules */
	struct sbx_fs_entry_key entry; /* name of the step before, in the object at this one */
	/* answer of the walk, 0 until a rule is found */
	__u32 rights;
	__u32 rule;
	__u32 names; /* between the dentry and what the rule is about, the dentry's included */
	__u32 pad;
};

/* Flags of the object's row; with SBX_FS_RULE its rights and rule are in the answer. Another inode at
 * its address is a rule that gives nothing. */
extern int fs_object(struct fs_step *s);
/* 1 when the name has a rule, here or at any depth: then that is the answer. */
extern int fs_entry(struct fs_step *s);
/* Rights on a file system that no rule is about. */
extern int fs_kind(__u64 magic, __u64 flags, __u64 generation);

/* What a sandbox refused. */
struct fs_answer {
	__u64 by;    /* the sandbox, 0: none has */
	__u32 error; /* positive errno, 0: it was logged only */
	__u32 audited;
	__u32 missing;
	__u32 rule, names;
	__u32 pad;
};
extern int fs_refuse(struct fs_answer *a, __u64 by, __u32 error, __u32 audit);

#endif
