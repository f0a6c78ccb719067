/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child: what the new process of a run does between clone and exec, and the file it will exec.
 *
 * Runs in a copy of the keeper's memory: allocates nothing, never returns, reports every failure as
 * a struct spawn_fault. Only spawn.c calls it.
 */
#ifndef KERN_CHILD_H
#define KERN_CHILD_H

#include "kern/spawn.h"

#define CHILD_IMAGE_FD \
	250 /* of the checked file, in the child; above what a shell or a service manager hands on */

struct child_image {
	char path[4096];  /* where it was found, as typed or PATH entry + name */
	const char *name; /* last component: becomes comm */
	int fd;		  /* O_PATH descriptor of the checked file */
	int link_dir;	  /* directory whose entry `name` leads to fd; -1: exec by path */
	int cwd_fd;	  /* directory to start in, -1: stay */
	bool elf;	  /* a program, whole or not: never the shell's */
};

/* Finds and checks the command: -ENOENT (127), -EACCES (126) with ERR_COULD_NOT_RUN. */
int child_image_open(struct child_image *image, const struct spawn_opts *opts, struct err *err);
void child_image_close(struct child_image *image);

__attribute__((noreturn)) void child_main(const struct spawn_opts *opts, struct child_image *image,
					  int go_fd, int fault_fd);

#endif
