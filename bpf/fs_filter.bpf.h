/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * fs_filter: counters that tell where there is no row (sbx/files.h), and the look at a row behind them.
 * What cannot be read refuses: the walk finds no right then.
 */
#ifndef FS_FILTER_BPF_H
#define FS_FILTER_BPF_H

#include "fs_name.bpf.h"
#include "fs_rows.bpf.h"
#include "rows.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sbx_fs_filter);
} fs_filter SEC(".maps") __weak;

/* The verifier makes loads of it: no helper is called. */
static __always_inline struct sbx_fs_filter *fs_filter_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&fs_filter, &zero);
}

/* Where a rule of that name in the directory `parent` is counted; a longer name than any that a rule
 * has shares some cell. */
static __always_inline __u64 name_cell(__u64 generation, __u32 parent, const struct dentry *d)
{
	__u32 len = d->d_name.len;
	__u64 word = *name_of(d) & name_masks[len & (SBX_FS_NAME - 1)][0];

	return sbx_fs_entry_cell(generation, parent, word, len);
}

static __always_inline int object_flags(struct fs_step *s, const struct sbx_fs_filter *filter,
					const struct inode *inode)
{
	struct super_block *sb;

	s->key.inode = (__u64)(long)inode;
	if (!inode ||
	    !filter->cells[sbx_fs_object_cell(s->key.generation, address_bits((__u64)(long)inode))])
		return 0;
	sb = inode->i_sb;
	s->ino = inode->i_ino;
	s->dev = sb->s_dev;
	return fs_object(s);
}

static __always_inline int flags_at(__u64 generation, const struct inode *inode)
{
	const struct sbx_fs_filter *filter = fs_filter_get();
	struct fs_step s = { .key.generation = generation };

	return filter ? object_flags(&s, filter, inode) : SBX_FS_ENTRIES | SBX_FS_PINNED;
}

#endif
