/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * fs_judge: one act, asked of the policy of a sandbox and of those around it.
 */
#ifndef FS_JUDGE_BPF_H
#define FS_JUDGE_BPF_H

#include "fs_walk.bpf.h"
#include "rows.bpf.h"

enum { DCACHE_OP_HASH = 1, DCACHE_OP_COMPARE = 2 }; /* linux/dcache.h */

/* fs_ask.how */
enum {
	FS_LEAVES = 1 << 0, /* the object leaves its place: not when it is pinned */
	FS_NAMES = 1 << 1,  /* `to` gets a name */
	FS_MOVES = 1 << 2,  /* the object is had as `to` as well, or instead */
	FS_BACKED =
		1
		<< 3, /* a layer's file, whose overlay's is not at hand: execute only where all may */
};

struct fs_ask {
	struct dentry *dentry, *to; /* `to`: the same where the act has one dentry */
	struct dentry *over;	    /* answer: for which of them it was refused */
	__u64 sandbox;
	__u64 want, how; /* of eight bytes each: the verifier then knows them in judge() */
	struct fs_answer a;
};

/* A directory where two spellings are one name: an entry rule would hold for one of them. */
static __always_inline bool is_ambiguous(__u64 generation, const struct dentry *d)
{
	struct dentry *up = d->d_parent;

	if (!(d->d_flags & (DCACHE_OP_HASH | DCACHE_OP_COMPARE)))
		return false;
	return generation & SBX_FS_ANYWHERE || flags_at(generation, up->d_inode) & SBX_FS_ENTRIES;
}

static __always_inline __u32 refused(struct fs_ask *ask, __u32 error, struct dentry *over,
				     const struct fs_step *s)
{
	ask->over = over;
	ask->a.missing = ask->want & ~s->rights;
	ask->a.rule = s->rule;
	ask->a.names = s->names;
	return error;
}

/* Rights may only be lost on the way. */
static __always_inline __u32 judge_move(struct fs_ask *ask, __u64 generation, struct fs_walk *w)
{
	__u32 from = w->s.rights;

	walk(w, ask->to, generation);
	if (!(w->s.rights & SBX_FS_WRITE))
		return refused(ask, EACCES, ask->to, &w->s);
	if (flags_at(generation, ask->to->d_inode) & SBX_FS_PINNED)
		return refused(ask, EBUSY, ask->to, &w->s);
	return w->s.rights & ~from ? refused(ask, EXDEV, ask->to, &w->s) : 0;
}

/* Positive errno, 0: allowed. */
static __noinline __u32 judge(struct fs_ask *ask, __u64 generation)
{
	struct dentry *d = ask->dentry;
	__u64 how = ask->how;
	struct fs_walk w;

	if (how & FS_BACKED && generation & SBX_FS_EXEC_ALL)
		return 0;
	walk(&w, d, generation);
	if (ask->want & ~w.s.rights)
		return refused(ask, EACCES, d, &w.s);
	if (how & FS_LEAVES && flags_at(generation, d->d_inode) & SBX_FS_PINNED)
		return refused(ask, EBUSY, d, &w.s);
	if (how & FS_NAMES && is_ambiguous(generation, ask->to))
		return refused(ask, EACCES, ask->to, &w.s);
	return how & FS_MOVES ? judge_move(ask, generation, &w) : 0;
}

/* One sandbox of the task, the innermost first. A missing row, or objects that nobody holds, refuse. */
static long judge_step(__u32 i, struct fs_ask *ask)
{
	struct sbx_sandbox *sb = sandbox_of(ask->sandbox);
	__u64 generation;
	__u32 error = 0;

	if (!sb) {
		fs_refuse(&ask->a, 0, EACCES, 0);
		return 1;
	}
	generation = sb->files_generation;
	if (generation && sb->flags & (SBX_FILES_UNHELD | SBX_OWNER_DIED))
		error = EACCES;
	else if (generation)
		error = judge(ask, generation);
	if (error)
		fs_refuse(&ask->a, sb->id, error, generation & SBX_FS_AUDIT);
	if (error && !(generation & SBX_FS_AUDIT))
		return 1;
	ask->sandbox = sb->parent;
	return !sb->parent;
}

#endif
