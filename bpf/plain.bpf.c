// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * plain: takes the verifier's trust from a pointer. No hooks: called by those that walk. In a file of
 * its own, since libbpf 1.1 links a kernel function that two objects name no more than once.
 */
#include "plain.bpf.h"
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

extern void *bpf_rdonly_cast(void *obj, __u32 btf_id) __ksym __weak;

/* bpf_rdonly_cast() exists. */
const volatile bool can_cast;

struct dentry *plain_dentry(struct dentry *d)
{
	return can_cast ? bpf_rdonly_cast(d, bpf_core_type_id_kernel(struct dentry)) : d;
}

struct file *plain_file(struct file *file)
{
	return can_cast ? bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file)) : file;
}

struct vm_area_struct *plain_vma(struct vm_area_struct *vma)
{
	return can_cast ? bpf_rdonly_cast(vma, bpf_core_type_id_kernel(struct vm_area_struct))
			: vma;
}

struct task_struct *plain_task(struct task_struct *task)
{
	return bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
}
