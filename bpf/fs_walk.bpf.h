/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * fs_walk: which rule of a policy holds for a dentry. From the dentry up through d_parent, the
 * nearest rule decides: of the object itself, then of its name in its directory, then of its name
 * anywhere, then of the directory …
 *
 * Before ab5cfac139ab ("bpf: verify callbacks as if they are called unknown number of times", 6.7)
 * the verifier sees one call of a callback only. So walk_step never branches on what an earlier
 * call of it has stored, pointers of one type excepted.
 *
 * Most steps find nothing. The filter tells so without a look-up: what is counted there may have a row,
 * what is not has none. The first of such steps are taken by walk_skip, which calls nothing.
 */
#ifndef FS_WALK_BPF_H
#define FS_WALK_BPF_H

#include "fs_filter.bpf.h"

#define WALK_SKIPS 8

struct fs_walk {
	/* below: the step before, of which `at` is the directory; at the first one the same */
	struct dentry *at, *below;
	struct sbx_fs_filter *filter;
	__u64 skipped;
	struct fs_step s;
};

/* Whether the name of the step before may have a rule, here or at any depth. */
static __always_inline bool may_have_entry(const struct fs_walk *w, const struct inode *dir)
{
	__u64 generation = w->s.entry.generation;
	const __u8 *cells = w->filter->cells;

	if (w->s.here && cells[name_cell(generation, address_bits((__u64)(long)dir), w->below)])
		return true;
	return generation & SBX_FS_ANYWHERE && cells[name_cell(generation, 0, w->below)];
}

static long walk_step(__u32 i, struct fs_walk *w)
{
	struct dentry *d = w->at, *up = d->d_parent, *below = w->below;
	int flags = object_flags(&w->s, w->filter, d->d_inode);
	__u32 names = i + (__u32)w->skipped;
	struct super_block *sb;

	w->s.here = flags & SBX_FS_ENTRIES;
	if (below != d && may_have_entry(w, d->d_inode) &&
	    name_copy((__u64 *)w->s.entry.name, below) && fs_entry(&w->s)) {
		w->s.names = names - 1;
		return 1;
	}
	w->s.names = names;
	if (flags & SBX_FS_RULE)
		return 1;
	w->below = d;
	w->at = up;
	if (up != d)
		return 0;
	sb = d->d_sb;
	w->s.rights = (__u32)fs_kind(sb->s_magic, sb->s_flags, w->s.entry.generation);
	return 1;
}

/* Takes steps that find nothing, as long as they are the first. */
static __always_inline void walk_skip(struct fs_walk *w, __u64 generation)
{
	const __u8 *cells = w->filter->cells;
	struct dentry *d = w->at, *up;
	__u64 n = 0;

	if (generation & SBX_FS_ANYWHERE) /* each name may have a rule */
		return;
#pragma clang loop unroll(full)
	for (int i = 0; i < WALK_SKIPS; i++) {
		__u32 inode = address_bits((__u64)(long)d->d_inode);

		up = d->d_parent;
		if (cells[sbx_fs_object_cell(generation, inode)] || up == d)
			break;
		w->below = d;
		d = up;
		n++;
	}
	w->at = d;
	w->skipped = n;
}

/* The answer is in w->s; what the bound left unsettled has no right. */
static __always_inline void walk(struct fs_walk *w, struct dentry *d, __u64 generation)
{
	__builtin_memset(&w->s, 0, sizeof(w->s));
	w->s.key.generation = w->s.entry.generation = generation;
	w->s.rule = SBX_NO_RULE;
	w->at = w->below = d;
	w->skipped = 0;
	w->filter = fs_filter_get();
	if (!w->filter)
		return;
	walk_skip(w, generation);
	bpf_loop(SBX_FS_DEPTH, walk_step, w, 0);
}

#endif
