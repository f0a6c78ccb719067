/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of btfcheck share: the object that is held, a kernel it is held against, the sums,
 * and how a type is looked through.
 */
#ifndef BTFCHECK_H
#define BTFCHECK_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>

#define MAX_FORMS 256

struct form {
	char program[64];
	char types[448];
};

struct object {
	struct bpf_object *bpf;
	struct btf *btf;
	struct btf_ext *ext;
	struct form forms[MAX_FORMS];
	int n_forms;
};

struct kernel {
	const char *name;
	struct btf *btf;
};

struct sums {
	int passed, failed, optional;
};

const char *name_of(const struct btf *btf, __u32 off);

/* The type behind const, volatile and typedef; NULL is void. */
const struct btf_type *skip_mods(const struct btf *btf, __u32 id);

/* Counts, and says what does not hold. */
void verdict(struct sums *sums, bool good, const struct kernel *k, const char *what,
	     const char *why);

void check_fields(const struct object *o, const struct kernel *k, struct sums *sums);
void check_hooks(const struct object *o, const struct kernel *k, struct sums *sums);

#endif
