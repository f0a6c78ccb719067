/* SPDX-License-Identifier: Apache-2.0 */
/* entries: the names in a directory, read without the heap: between clone and exec there is none. */
#ifndef KERN_ENTRIES_H
#define KERN_ENTRIES_H

/* Calls fn for each name but "." and ".." in the directory behind `fd`, which is read from where it
 * stands; `type` is DT_*. A return other than 0 ends the walk and is returned. */
int entries_each(int fd, int (*fn)(void *arg, const char *name, unsigned char type), void *arg);

#endif
