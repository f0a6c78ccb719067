/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal: the pty of a run and the relay of the caller's keyboard into it.
 *
 * Output goes the way of all output (capture); here is input, the window size, and that the caller's
 * terminal is as it was at every end. A background job never takes the terminal.
 */
#ifndef RUN_TERMINAL_H
#define RUN_TERMINAL_H

#include "base/err.h"

struct run;
struct terminal;

int terminal_open(struct terminal **out, struct run *run, struct err *err);
int terminal_master(const struct terminal *t);
int terminal_slave(const struct terminal *t);
/* The command has its slave: close ours, go raw, relay. */
int terminal_start(struct terminal *t, struct err *err);
void terminal_resize(struct terminal *t);
void terminal_suspend(struct terminal *t);
void terminal_resume(struct terminal *t);
void terminal_close(struct terminal *t); /* NULL is fine */

#endif
