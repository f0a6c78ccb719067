/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * dying: how a sandbox, and those inside it, come to refuse forks and to be killed.
 */
#ifndef DYING_BPF_H
#define DYING_BPF_H

#include "tally.bpf.h"

#define KILL_TRIES 64 /* refused passes, then the rest is left to user space */

/* kill.bpf.c: 0, or a negative errno where the kernel cannot. */
extern int kill_child(struct task_struct *child) __hidden;

struct dying_ctx {
	__u32 tgid;
	__u32 marked;
};

/* An ancestor that is dying or being killed makes its inner sandboxes so. */
static long dying_inherit(void *map, __u64 *key, struct sbx_sandbox *sb, struct dying_ctx *ctx)
{
	struct sbx_sandbox *up = sb;
	__u32 flags = 0;

	for (int i = 0; i < SBX_MAX_NEST; i++) {
		up = sandbox_of(up->parent);
		if (!up)
			break;
		flags |= up->flags & (SBX_DYING | SBX_KILLING);
	}
	/* One that was ending by itself is told, too: its keeper may die of this before it has said why. */
	if (flags && (flags | SBX_ANCESTOR_DIED) & ~sb->flags)
		__sync_fetch_and_or(&sb->flags, flags | SBX_ANCESTOR_DIED);
	return 0;
}

/* Of two that die at once the second one sees that the first is dead, or both do. */
static __always_inline void dying_holder(struct sbx_sandbox *sb, __u32 tgid)
{
	bool held = sb->files_holder == tgid || sb->files_watcher == tgid;

	if (!held || !sb->files_generation)
		return;
	__sync_val_compare_and_swap(&sb->files_holder, tgid, 0);
	__sync_val_compare_and_swap(&sb->files_watcher, tgid, 0);
	if (!*(volatile __u32 *)&sb->files_holder && !*(volatile __u32 *)&sb->files_watcher)
		__sync_fetch_and_or(&sb->flags, SBX_FILES_UNHELD);
}

static long dying_orphan(void *map, __u64 *key, struct sbx_sandbox *sb, struct dying_ctx *ctx)
{
	__u32 flags = sb->flags;

	dying_holder(sb, ctx->tgid);
	if ((flags & SBX_KILL_WITH_OWNER && sb->owner_tgid == ctx->tgid) ||
	    (flags & SBX_KILL_WITH_KEEPER && sb->keeper_tgid == ctx->tgid)) {
		__sync_fetch_and_or(&sb->flags, SBX_OWNER_DIED | SBX_DYING | SBX_KILLING);
		ctx->marked++;
	}
	return 0;
}

/*
 * A bound was crossed. The sandboxes inside follow when the keeper, which is woken, kills the
 * tree: walking them here would be a callback in every fork.
 */
static __always_inline void dying_hit(struct sbx_sandbox *sb, __u32 why)
{
	__sync_fetch_and_or(&sb->flags, why | SBX_DYING);
}

/* Whether `depth` is beyond what the sandbox allows. */
static __always_inline int depth_hit(struct sbx_sandbox *sb, __u32 depth)
{
	if (!sb->max_depth || depth - sb->base_depth <= sb->max_depth)
		return 0;
	dying_hit(sb, SBX_DEPTH_HIT);
	return 1;
}

/* Counts execs; whether that crossed the bound. */
static __always_inline int exec_hit(struct sbx_sandbox *sb, __u32 n)
{
	__u64 sum = __sync_fetch_and_add(&sb->execs, n) + n;

	if (!sb->max_execs || sum <= sb->max_execs)
		return 0;
	dying_hit(sb, SBX_EXECS_HIT);
	return 1;
}

/* No forks from now on, in it and in the sandboxes inside. */
static __always_inline void dying_set(struct sbx_sandbox *sb)
{
	struct dying_ctx ctx = {};

	__sync_fetch_and_or(&sb->flags, SBX_DYING);
	bpf_for_each_map_elem(&sandboxes, dying_inherit, &ctx, 0);
}

/* A process is dead: every sandbox that dies with it is marked. Returns how many. */
static __always_inline __u32 dying_owner(__u32 tgid)
{
	struct dying_ctx ctx = { .tgid = tgid };

	if (!bpf_map_lookup_elem(&owners, &tgid))
		return 0;
	bpf_map_delete_elem(&owners, &tgid);
	bpf_for_each_map_elem(&sandboxes, dying_orphan, &ctx, 0);
	if (ctx.marked)
		bpf_for_each_map_elem(&sandboxes, dying_inherit, &ctx, 0);
	return ctx.marked;
}

#endif
