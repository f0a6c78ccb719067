/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * fs_ask: a hook's question about the current task, its answer, and the record of a refusal.
 */
#ifndef FS_ASK_BPF_H
#define FS_ASK_BPF_H

#include "denial.bpf.h"
#include "fs_judge.bpf.h"
#include "plain.bpf.h"
#include "fs_subject.bpf.h"

/* Of what does not exist a number that is no address. */
static __always_inline __u64 denial_object(const struct dentry *d)
{
	struct inode *inode = d->d_inode;
	struct dentry *up = d->d_parent;

	if (inode)
		return (__u64)(long)inode;
	inode = up->d_inode;
	return (inode->i_ino << 32 ^ d->d_name.hash) | 1;
}

/* Up to eight names, the object's own first. Unrolled: out of a loop clang would move the offsets of
 * both forms of the name, of which a kernel has one. */
static __always_inline void denial_names(struct sbx_denial *row, struct dentry *d, __u32 names)
{
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < SBX_DENIAL_TEXT / SBX_DENIAL_NAME; i++) {
		__u64 *to = (__u64 *)(row->text + i * SBX_DENIAL_NAME);

		if (i >= names)
			return;
		if (!name_copy(to, d))
			*to = '?';
		d = d->d_parent;
	}
	if (names > SBX_DENIAL_TEXT / SBX_DENIAL_NAME)
		row->flags |= SBX_DENIAL_CUT;
}

static __always_inline __u32 act_of(__u32 missing)
{
	return missing & SBX_FS_READ	? SBX_ACT_READ
	       : missing & SBX_FS_WRITE ? SBX_ACT_WRITE
					: SBX_ACT_EXECUTE;
}

static __noinline int tell(struct fs_ask *ask, __u32 act)
{
	struct dentry *d = ask->over;
	struct super_block *fs = d->d_sb;
	struct sbx_denial_key key = {
		.sandbox = ask->a.by,
		.object = denial_object(d),
		.rule = ask->a.rule,
		.act = act ? act : act_of(ask->a.missing),
	};
	struct sbx_denial *row;

	if (!denial_put(&key, ask->a.error ? ask->a.error : ask->a.audited,
			SBX_DENIAL_NAMES | (ask->a.error ? 0 : SBX_DENIAL_AUDIT)))
		return 0;
	row = denial_row(&key);
	if (!row)
		return 0;
	row->dev = fs->s_dev;
	denial_names(row, d, ask->a.names);
	return 0;
}

/* `act` 0: by the right that is missing. The answer as constants: since 6.12 the verifier wants to see
 * that it is an errno. */
static __always_inline int fs_ask(__u64 sandbox, struct dentry *d, struct dentry *to, __u32 want,
				  __u32 act, __u32 how)
{
	struct dentry *from = plain_dentry(d);
	struct fs_ask ask = {
		.dentry = from,
		.to = to == d ? from : plain_dentry(to),
		.over = from,
		.sandbox = sandbox,
		.want = want,
		.how = how,
		.a.rule = SBX_NO_RULE,
	};

	bpf_loop(SBX_MAX_NEST, judge_step, &ask, 0);
	if (ask.a.by)
		tell(&ask, act);
	switch (ask.a.error) {
	case 0:
		return 0;
	case EBUSY:
		return -EBUSY;
	case EXDEV:
		return -EXDEV;
	}
	return -EACCES;
}

static __always_inline int ask_one(struct dentry *d, __u32 want, __u32 act, __u32 how)
{
	__u64 sandbox = fs_subject();

	return sandbox ? fs_ask(sandbox, d, d, want, act, how) : 0;
}

#endif
