/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * fs_name: the name of a dentry, read without a helper.
 */
#ifndef FS_NAME_BPF_H
#define FS_NAME_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>

#include "sbx/files.h"

#define NAME_WORDS (SBX_FS_NAME / 8)

/* A short name lies in the dentry. Eight bytes at a time; what follows the name is not zero. Of the two
 * forms a kernel has one, and refuses the offset of the other: clang must not take both out of their
 * branches. */
static __always_inline const __u64 *name_of(const struct dentry *d)
{
	const void *at;

	if (bpf_core_field_exists(d->d_iname)) {
		at = &d->d_iname[0];
		asm volatile("" : "+r"(at));
		return at;
	}
	at = &((const struct dentry___short *)d)->d_shortname.string[0];
	asm volatile("" : "+r"(at));
	return at;
}

/* clang-format off */
/* What of each word is the name, by its length. A table: branches would multiply the paths that the
 * verifier walks. */
#define KEEP(len, i) ((len) <= 8 * (i)	   ? 0 : \
		      (len) >= 8 * (i) + 8 ? ~0ull : \
					     (1ull << (((len) - 8 * (i)) & 7) * 8) - 1)
#define KEEP_1(len) { KEEP(len, 0), KEEP(len, 1), KEEP(len, 2), KEEP(len, 3) }
#define KEEP_4(len) KEEP_1(len), KEEP_1((len) + 1), KEEP_1((len) + 2), KEEP_1((len) + 3)
static const __u64 name_masks[SBX_FS_NAME][NAME_WORDS] = {
	KEEP_4(0),  KEEP_4(4),	KEEP_4(8),  KEEP_4(12),
	KEEP_4(16), KEEP_4(20), KEEP_4(24), KEEP_4(28),
};
/* clang-format on */

/* False when the name is longer than any that a rule has. */
static __always_inline bool name_copy(__u64 *to, const struct dentry *d)
{
	const __u64 *from = name_of(d);
	__u32 len = d->d_name.len;

	if (len >= SBX_FS_NAME)
		return false;
	for (int i = 0; i < NAME_WORDS; i++)
		to[i] = from[i] & name_masks[len][i];
	return true;
}

#endif
