/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader: puts the kernel half of this build into the kernel and into bpffs, once.
 *
 * The caller holds the exclusive lock. A failed load leaves no pin. The halves of other builds stay
 * while a sandbox of theirs lives.
 */
#ifndef KERN_LOADER_H
#define KERN_LOADER_H

#include "kern/pins.h"

/* Probes, loads, attaches, tries, pins. */
int loader_load(const struct pins *pins, struct err *err);
/* Removes the halves of other builds, and leftovers of failed loads, in which no sandbox lives. */
void loader_sweep(const struct pins *pins);
/* Removes every half. -EBUSY with the number of live sandboxes when one has any; then all stay
 * usable. */
int loader_unload(const struct pins *pins, struct err *err);

#endif
