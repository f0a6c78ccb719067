/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit: the closed vocabulary of limits (contract 51) and the presets that name numbers for them.
 * Pure.
 *
 * Nothing has an anonymous default: every value says where it came from.
 */
#ifndef POLICY_LIMIT_H
#define POLICY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum limit_id {
	LIMIT_WALL,	/* ns */
	LIMIT_IDLE,	/* ns */
	LIMIT_CPU_TIME, /* ns */
	LIMIT_MEMORY,	/* bytes */
	LIMIT_SWAP,	/* bytes; 0 is allowed here */
	LIMIT_CPUS,	/* millicores */
	LIMIT_PIDS,	/* tasks */
	LIMIT_DISK,	/* bytes */
	LIMIT_MAX_FILE, /* bytes */
	LIMIT_NOFILE,	/* descriptors a process */
	LIMIT_OUTPUT,	/* bytes, stdout + stderr */
	LIMIT_EXECS,
	LIMIT_DEPTH,
	LIMIT__COUNT,
};

enum limit_origin {
	ORIGIN_UNSET, /* never asked for */
	ORIGIN_EXPLICIT,
	ORIGIN_PROFILE,
	ORIGIN_PRESET,
	ORIGIN_INHERITED,
	ORIGIN_WAIVED, /* `none` was said, or nothing for a limit whose absence must be on record */
};

struct spec_limit {
	enum limit_origin origin;
	uint64_t value;
	char origin_name[32]; /* preset or profile */
};

struct limit_info {
	const char *name;	/* "wall" */
	const char *option;	/* "--timeout" */
	const char *unit;	/* "ns" | "bytes" | "millicores" | "count" */
	const char *capability; /* DESIGN 9 name; NULL: an rlimit, which every kernel has */
	bool kills;		/* a breach ends the tree (else it is a refusal inside) */
};
extern const struct limit_info limit_table[LIMIT__COUNT];

/* Whether this is a number that something must enforce. */
bool limit_in_force(const struct spec_limit *limit);

/* A value as people type it, or `none`: origin EXPLICIT or WAIVED. */
int limit_parse(struct spec_limit *limit, enum limit_id id, const char *text, struct err *err);

/* Fills what is still unset. `none` waives every limit. Unknown names are refused with the list. */
int limit_apply_preset(struct spec_limit limits[LIMIT__COUNT], const char *name, struct err *err);
bool limit_preset_known(const char *name);
/* Names of the presets in order; NULL past the last. */
const char *limit_preset_name(size_t index);

/* "5 s", "64 KiB", "1.5 CPUs", "32": for messages. */
void limit_text(enum limit_id id, uint64_t value, char *buf, size_t size);

#endif
