/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object: what the loaders of the kernel half do with the BPF object alike. The half itself is loaded at
 * the first run (loader), the rest with the first policy that needs it (files_load, net_load, report_load).
 */
#ifndef KERN_OBJECT_H
#define KERN_OBJECT_H

#include <bpf/libbpf.h>
#include <stddef.h>

#include "kern/half.h"

/* libbpf says nothing from here on, unless SBX_BPF_LOG asks for what the kernel says: what fails is one line, and ours. */
void object_hush(void);

/* Of the maps of `obj` only its own data will be made; those by which a hook finds its sandbox, and
 * `shared`, are the half's. What else is wanted is the caller's to switch on. 0 or a negative errno. */
int object_share_maps(struct bpf_object *obj, struct kern *k, const enum half_pin *shared,
		      size_t count);

/* 0 or a negative errno, as all below. */
int object_facts(struct kern *k, struct sbx_facts *facts);
int object_put_facts(struct kern *k, struct sbx_facts *facts);
/* Pins in the directory of the half as PREFIX NAME; a leftover of that name goes. */
int object_pin(const struct kern *k, int fd, const char *prefix, const char *name);
void object_unpin(const struct kern *k, const char *prefix, const char *name);

#endif
