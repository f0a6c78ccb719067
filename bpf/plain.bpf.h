/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * plain: kernel pointers that may be NULL after all.
 *
 * Since 6.2 the verifier trusts the arguments of a hook, and with them some of their fields: it takes
 * d_inode for never NULL (until 6.13), and the file of mmap_file (until it is marked nullable), removes
 * the test for it, and the load behind it is no longer guarded: an entry that does not exist was a
 * panic on 6.12. A cast takes the trust away; all that is read from there is guarded and may be tested.
 */
#ifndef PLAIN_BPF_H
#define PLAIN_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/* plain.bpf.c. As they are where bpf_rdonly_cast() is missing (before 6.2): nothing is trusted there. */
extern struct dentry *plain_dentry(struct dentry *d) __hidden;
extern struct file *plain_file(struct file *file) __hidden;
extern struct vm_area_struct *plain_vma(struct vm_area_struct *vma) __hidden;
/* Only where bpf_rdonly_cast() exists. */
extern struct task_struct *plain_task(struct task_struct *task) __hidden;

#endif
