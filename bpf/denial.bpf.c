// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * denial: rows of refused acts, and one event for the first of each kind. No hooks: called by
 * whatever refuses, or sees a refusal.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "denial.bpf.h"
#include "event.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A row begins as this: it is too large for the stack. */
static const struct sbx_denial denial_none;

static __always_inline void describe(struct sbx_sandbox *sb, struct sbx_denial *row, __u32 error,
				     __u32 flags)
{
	struct sbx_event e;

	event_init(&e, SBX_EVENT_DENIED, bpf_get_current_task_btf()->group_leader);
	e.status = error;
	row->first_ns = e.time_ns;
	row->start_ns = e.start_ns;
	row->pid = e.pid;
	row->error = error;
	row->flags = flags;
	__builtin_memcpy(row->comm, e.comm, sizeof(row->comm));
	event_put(sb, &e);
}

/* Counted first: a total that misses none is worth more than a row. */
int denial_put(struct sbx_denial_key *about, __u32 error, __u32 flags)
{
	struct sbx_denial_key key;
	struct sbx_sandbox *sb;
	struct sbx_denial *row;
	int fresh = 0;

	if (!about)
		return 0;
	key = *about; /* on the stack, where a key must lie before 6.4 */
	sb = sandbox_of(key.sandbox);
	if (!sb)
		return 0;
	__sync_fetch_and_add(&sb->denials, 1);
	row = denial_row(&key);
	if (!row && sb->denial_rows < SBX_MAX_DENIALS_PER_SANDBOX) {
		fresh = !bpf_map_update_elem(&denials, &key, &denial_none, BPF_NOEXIST);
		row = denial_row(&key);
	}
	if (!row) {
		__sync_fetch_and_add(&sb->denials_dropped, 1);
		return 0;
	}
	__sync_fetch_and_add(&row->count, 1);
	row->last_ns = bpf_ktime_get_boot_ns();
	if (fresh) {
		__sync_fetch_and_add(&sb->denial_rows, 1);
		describe(sb, row, error, flags);
	}
	return fresh;
}
