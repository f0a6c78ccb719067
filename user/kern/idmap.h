/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idmap: a user namespace whose map knows no owner of ours. On a mount that is mapped through it
 * nobody owns anything and no capability counts: CAP_DAC_OVERRIDE needs an owner that is mapped.
 */
#ifndef KERN_IDMAP_H
#define KERN_IDMAP_H

#include "base/err.h"

/* A descriptor of the namespace, which lives as long as that, or a negative errno. Forks: before the
 * caller's next child is meant to be anything else. */
int idmap_foreign(struct err *err);

#endif
