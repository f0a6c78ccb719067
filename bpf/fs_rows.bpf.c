// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * fs_rows: one look at the rows of a file policy. No hooks: called by fs's walk. What is not found
 * gives no right; the walk goes on, or refuses.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "fs_rows.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* linux/fs.h */
#define SB_KERNMOUNT (1ul << 22)
#define SB_NOUSER (1ul << 31)
/* linux/magic.h, ipc/mqueue.c */
#define DEVPTS_SUPER_MAGIC 0x1cd1
#define HUGETLBFS_MAGIC 0x958458f6
#define MQUEUE_MAGIC 0x19800202

/* Keys are copied to the stack: before 6.4 a key may lie nowhere else. */

int fs_object(struct fs_step *s)
{
	struct sbx_fs_object *row;
	struct sbx_fs_key key;

	if (!s)
		return 0;
	key = s->key;
	row = bpf_map_lookup_elem(&fs_objects, &key);
	if (!row)
		return 0;
	if (row->ino != s->ino || row->dev != s->dev)
		return SBX_FS_RULE;
	if (row->flags & SBX_FS_RULE) {
		s->rights = row->rights;
		s->rule = row->rule;
	}
	return row->flags;
}

int fs_entry(struct fs_step *s)
{
	struct sbx_fs_entry *row = NULL;
	struct sbx_fs_entry_key key;

	if (!s)
		return 0;
	key = s->entry;
	if (s->here) {
		key.parent = s->key.inode;
		row = bpf_map_lookup_elem(&fs_entries, &key);
	}
	if (!row && key.generation & SBX_FS_ANYWHERE) {
		key.parent = 0;
		row = bpf_map_lookup_elem(&fs_entries, &key);
	}
	if (!row)
		return 0;
	s->rights = row->rights;
	s->rule = row->rule;
	return 1;
}

/*
 * What has no name that a rule could give: pipes, sockets, memfd, anonymous inodes (SB_NOUSER),
 * terminals, message queues. Not SB_KERNMOUNT alone: devtmpfs has that.
 */
int fs_kind(__u64 magic, __u64 flags, __u64 generation)
{
	int rights = SBX_FS_READ | SBX_FS_WRITE;

	if (!(flags & SB_NOUSER) && magic != DEVPTS_SUPER_MAGIC && magic != MQUEUE_MAGIC &&
	    !(magic == HUGETLBFS_MAGIC && flags & SB_KERNMOUNT))
		return 0;
	return generation & SBX_FS_ANON_EXEC ? rights | SBX_FS_EXEC : rights;
}

int fs_refuse(struct fs_answer *a, __u64 by, __u32 error, __u32 audit)
{
	if (!a)
		return 0;
	a->by = by;
	if (audit)
		a->audited = error;
	else
		a->error = error;
	return 0;
}
