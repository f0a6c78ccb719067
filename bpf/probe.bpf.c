// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * probe: lets the loader find out whether tracepoint programs are preempted.
 *
 * Hooks and duties
 *   tp_btf/sched_process_fork  during the probe only: takes its time when the probe's child forks
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "sbx/kern_calls.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define SPIN_STEPS (1 << 20)

static long spin_step(__u32 i, __u64 *end)
{
	return bpf_ktime_get_ns() >= *end;
}

/* The probe's child is known by its name: its pid number may be another here than where it runs. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(probe_spin, struct task_struct *parent)
{
	static const char name[] = SBX_PROBE_SPIN_COMM;
	__u64 end = bpf_ktime_get_ns() + SBX_PROBE_SPIN_NS;

	for (unsigned int i = 0; i < sizeof(name); i++)
		if (parent->comm[i] != name[i])
			return 0;
	bpf_loop(SPIN_STEPS, spin_step, &end, 0);
	return 0;
}
