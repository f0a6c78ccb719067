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
 * what is not has none.
 */
#ifndef FS_WALK_BPF_H
#define FS_WALK_BPF_H

#include "fs_name.bpf.h"
#include "fs_rows.bpf.h"
#include "rows.bpf.h"

struct fs_walk {
	struct dentry *at, *below; /* below: the step before, of which `at` is the directory */
	struct sbx_fs_filter *filter;
	struct fs_step s;
};

static __always_inline int object_flags(struct fs_step *s, const struct sbx_fs_filter *filter,
					const struct inode *inode)
{
	struct super_block *sb;

	s->key.inode = (__u64)(long)inode;
	if (!inode || !filter->cells[sbx_fs_object_cell(s->key.generation, address_bits((__u64)(long)inode))])
		return 0;
	sb = inode->i_sb;
	s->ino = inode->i_ino;
	s->dev = sb->s_dev;
	return fs_object(s);
}

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
	struct dentry *d = w->at, *up = d->d_parent;
	int flags = object_flags(&w->s, w->filter, d->d_inode);
	struct super_block *sb;

	w->s.here = flags & SBX_FS_ENTRIES;
	if (i && may_have_entry(w, d->d_inode) && name_copy((__u64 *)w->s.entry.name, w->below) &&
	    fs_entry(&w->s)) {
		w->s.names = i - 1;
		return 1;
	}
	w->s.names = i;
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

/* The answer is in w->s; what the bound left unsettled has no right. */
static __always_inline void walk(struct fs_walk *w, struct dentry *d, __u64 generation)
{
	__builtin_memset(&w->s, 0, sizeof(w->s));
	w->s.key.generation = w->s.entry.generation = generation;
	w->s.rule = SBX_NO_RULE;
	w->at = w->below = d;
	w->filter = fs_filter_get();
	if (w->filter)
		bpf_loop(SBX_FS_DEPTH, walk_step, w, 0);
}

static __always_inline int flags_at(__u64 generation, const struct inode *inode)
{
	const struct sbx_fs_filter *filter = fs_filter_get();
	struct fs_step s = { .key.generation = generation };

	return filter ? object_flags(&s, filter, inode) : SBX_FS_ENTRIES | SBX_FS_PINNED;
}

#endif
