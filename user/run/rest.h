/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rest: gives back the memory that only the start of a run needed. A keeper mostly waits, and there may
 * be a thousand of them. Changes nothing but what is resident.
 */
#ifndef RUN_REST_H
#define RUN_REST_H

/* Freed heap goes back to the kernel, and the program's own pages to the page cache: those that are
 * needed again are mapped again from there. */
void rest(void);

#endif
