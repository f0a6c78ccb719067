/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half: the inside of struct kern, for the files of kern/ that speak to the kernel half.
 *
 * Descriptors are opened from the pins when first needed: a start needs four.
 */
#ifndef KERN_HALF_H
#define KERN_HALF_H

#include "kern/kern.h"
#include "sbx/kern_calls.h"

enum half_pin {
	HALF_FACTS,
	HALF_SANDBOXES,
	HALF_CREATE,
	HALF_CONTROL,
	HALF_TASKS,
	HALF_FILTER,
	HALF_RINGS,
	HALF_STATS,
	HALF_THREADS,
	HALF_DENIALS,
	HALF_FS_LIVE,
	HALF_VIEW,
	HALF_NET_LIVE,
	HALF_ADOPT,
	HALF_LET_GO,
	HALF_FIRST, /* pinned when the half is loaded; what follows with the first file policy: */
	HALF_FS_OBJECTS = HALF_FIRST,
	HALF_FS_ENTRIES,
	HALF_FS_FILTER,
	HALF_FS_INODES, /* the last of them: without it the others are leftovers */
	HALF_FS_END,
	HALF_NET_RULES = HALF_FS_END, /* and with the first network policy: */
	HALF_NET_NAMED,
	HALF_NET_UNIX,
	HALF_NET_EGRESS,
	HALF_NET_INGRESS, /* the last of these, likewise */
	HALF_PINS,
};
extern const char *const half_pin_names[HALF_PINS];

struct kern {
	int fds[HALF_PINS];
	struct kern_facts facts;
	enum { PIDS_UNKNOWN, PIDS_HOST, PIDS_CONTAINER } pids;
	char dir[160];
};

/* Descriptor of a pinned map or program, owned by the handle; negative errno. */
int half_fd(struct kern *k, enum half_pin pin);
/* After -ESTALE: opens, or loads, the half anew. */
int kern_reopen(struct kern *k, struct err *err);
/* One BPF_PROG_RUN of sandbox_control. 0 or negative errno, the program's own included. */
int half_control(struct kern *k, uint64_t sandbox, uint32_t what);
/* Runs a `syscall` program on `args`, which it may change. */
int half_run(int prog_fd, void *args, size_t size);

/* Whether our pid numbers are those of the kernel half: false in a container. */
bool half_host_pids(struct kern *k);

/* Opens the iterator `prog_fd` on the process behind pidfd (-ESRCH when it is gone), or with -1 on all threads. */
int half_iter(int prog_fd, int pidfd);

struct half_threads {	  /* what iter/task said about one process */
	uint64_t sandbox; /* of the first labelled thread, 0: none */
	unsigned int count;
	int error; /* first failure of a thread */
};
/* Labels, registers or looks at (`what`: SBX_CONTROL_*) every thread of the process behind
 * pidfd. -ESRCH when it has none left. */
int half_threads(struct kern *k, int pidfd, uint64_t sandbox, uint32_t what,
		 struct half_threads *out);

/* Whether a sandbox lives in the half that is pinned in `dir`; what was never complete holds
 * none. */
int half_lives(const char *dir, bool *live);
/* The same, and marks the half gone unless one lives: from then on nobody makes a sandbox in it. */
int half_retire(const char *dir, bool *live);

#endif
