/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_bpf: what the running kernel lets BPF do, found out by trying, never from a version or
 * a list.
 *
 * The children that try are bounded in time, made without SIGCHLD, and reaped here. Nothing
 * stays behind.
 */
#ifndef KERN_PROBE_BPF_H
#define KERN_PROBE_BPF_H

#include <stdbool.h>

#include "base/err.h"

/* What must be known before the object is loaded: which programs this kernel can take. */
struct probe_types {
	bool group_dead;      /* sched_process_exit says group_dead (6.16) */
	bool signal_task;     /* bpf_send_signal_task() exists (6.13) */
	bool task_iter;	      /* the open-coded task iterator exists (6.7) */
	bool lsm;	      /* a program of type lsm loads */
	char lsm_detail[128]; /* why not */
};
/* Errors: no BTF, no privilege; both with the remedy. */
int probe_types(struct probe_types *out, struct err *err);

/* Descriptors of a loaded object whose hooks are attached. */
struct probe_half {
	int create_fd, control_fd, sandboxes_fd;
};
/* Whether task_alloc refuses a fork in a dying sandbox. */
bool probe_lsm_refuses(const struct probe_half *h, char detail[128]);
/* Whether the exit hook of a keeper kills its tree. */
bool probe_exit_kills(const struct probe_half *h, char detail[128]);

/* Whether a tracepoint program can be preempted, so that another on its CPU is skipped
 * (probe_skip.c). `prog_fd` is probe_spin, attached. */
bool probe_hooks_skipped(int prog_fd);

#endif
