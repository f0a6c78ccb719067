// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * nest: what happens in a sandbox, for those around it. No hooks: called by track's and kill's.
 *
 * A missing row ends the walk: the sandbox around has been removed, and nobody counts there any
 * more.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "dying.bpf.h"
#include "event.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

int nest_tally(__u64 id, __s32 threads, __s32 processes, __s32 born, __s32 exits)
{
	for (int i = 0; i < SBX_MAX_NEST; i++) {
		struct sbx_sandbox *sb = sandbox_of(id);

		if (!sb)
			break;
		raise_peak(&sb->live_peak,
			   __sync_fetch_and_add(&sb->live, (__s64)threads) + threads);
		raise_peak(&sb->live_processes_peak,
			   __sync_fetch_and_add(&sb->live_processes, (__s64)processes) + processes);
		__sync_fetch_and_add(&sb->processes, (__s64)born);
		__sync_fetch_and_add(&sb->exits, (__s64)exits);
		id = sb->parent;
	}
	return 0;
}

/* 1 when `depth` is beyond what one of them allows. */
int nest_depth(__u64 id, __u32 depth)
{
	int hit = 0;

	for (int i = 0; i < SBX_MAX_NEST; i++) {
		struct sbx_sandbox *sb = sandbox_of(id);

		if (!sb)
			break;
		hit |= depth_hit(sb, depth);
		id = sb->parent;
	}
	return hit;
}

/* Counts execs; 1 when that crossed a bound. */
int nest_exec(__u64 id, __u32 n)
{
	int hit = 0;

	for (int i = 0; i < SBX_MAX_NEST; i++) {
		struct sbx_sandbox *sb = sandbox_of(id);

		if (!sb)
			break;
		hit |= exec_hit(sb, n);
		id = sb->parent;
	}
	return hit;
}

/* 1 when one of them has a file policy. No file is opened to be born into another group, so no rule keeps a root from it. */
int nest_policy(__u64 id)
{
	for (int i = 0; i < SBX_MAX_NEST; i++) {
		struct sbx_sandbox *sb = sandbox_of(id);

		if (!sb)
			break;
		if (sb->files_generation)
			return 1;
		id = sb->parent;
	}
	return 0;
}

int nest_event(__u64 id, struct sbx_event *event, __u32 depth)
{
	if (!event)
		return 0;
	for (int i = 0; i < SBX_MAX_NEST; i++) {
		struct sbx_sandbox *sb = sandbox_of(id);

		if (!sb)
			break;
		event->depth = depth - sb->base_depth;
		event_put(sb, event);
		id = sb->parent;
	}
	return 0;
}
