/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worktree: which paths git in a directory has to write, and which decide what git runs.
 *
 * Git runs programs that hooks and configuration name, with the rights of whoever calls it next. What points
 * to a git directory is believed only when that points back: a `.git` that an earlier command left behind must
 * not open a directory elsewhere.
 */
#ifndef KERN_WORKTREE_H
#define KERN_WORKTREE_H

#include <stdbool.h>

/* `writable`: a git directory of the work tree around `directory`; else hooks, configuration and the like of it,
 * of its submodules, of its worktrees and of repositories directly below `directory`. They need not exist. */
typedef int worktree_path_fn(void *arg, const char *path, bool writable);

/* `directory` is canonical. A return of fn other than 0 ends the search and is returned. */
int worktree_each(const char *directory, worktree_path_fn *fn, void *arg);

#endif
