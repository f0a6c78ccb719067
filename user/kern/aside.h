/* SPDX-License-Identifier: Apache-2.0 */
/* aside: a process of ours that is no part of a run. It is made without SIGCHLD, so that no
 * handler and no wait(2) of the caller meets it, and is reaped here. */
#ifndef KERN_ASIDE_H
#define KERN_ASIDE_H

#include <stdbool.h>
#include <sys/types.h>

/* Runs fn(arg) in a child and _exits with what it returns. Returns its pidfd or a negative
 * errno. */
int aside_start(int (*fn)(void *arg), void *arg, pid_t *pid);
/* Waits at most budget_ms, then kills; closes pidfd. Exit status, or -ETIMEDOUT, or -EINTR when
 * a signal ended it. */
int aside_end(int pidfd, int budget_ms);
/* Reaps a child that was told to die. False when the budget was not enough (it sleeps uninterruptibly, or who
 * traces it holds it): whoever inherits it from us reaps it. */
bool aside_reap(int pidfd, int budget_ms);

#endif
