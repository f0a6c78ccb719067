/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What btfcheck must refuse, and what it must let through: read by tests/vm/selftest only. Every
 * kernel lacks the field, the first hook and the third argument; the rest is asked for or optional.
 */
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

struct task_struct___lost {
	int no_such_field;
} __attribute__((preserve_access_index));

struct task_struct___asked {
	int no_such_either;
} __attribute__((preserve_access_index));

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("lsm/task_free")
int BPF_PROG(lost_field, struct task_struct *task)
{
	return ((struct task_struct___lost *)task)->no_such_field;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(asked_field, struct task_struct *parent, struct task_struct *child)
{
	struct task_struct___asked *task = (void *)child;

	return bpf_core_field_exists(task->no_such_either) ? task->no_such_either : parent->pid;
}

SEC("lsm/no_such_hook")
int BPF_PROG(lost_hook, struct task_struct *task)
{
	return task->pid;
}

SEC("?lsm/no_such_hook_either")
int BPF_PROG(optional_hook, struct task_struct *task)
{
	return task->pid;
}

SEC("tp_btf/sched_process_wait")
int BPF_PROG(other_argument, struct task_struct *task)
{
	return 0;
}
