/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands: the table of what sbxctl can do, one row and one file a command.
 *
 * Dispatch, usage, the man page and the completions take their names from here.
 */
#ifndef SBXCTL_COMMANDS_H
#define SBXCTL_COMMANDS_H

#include <stddef.h>

/* Documents an option of one command alone; those of `run` are rows of run_options. */
struct command_flag {
	const char *name; /* "--all", "-a, --all" */
	const char *arg;  /* NULL: none */
	const char *help;
};
#define COMMAND_FLAGS_MAX 6
#define COMMANDS_MAX 64

struct command {
	const char *name;
	/* argv[0] is the command's name; returns the exit status. */
	int (*run)(int argc, char **argv);
	const char *synopsis;	    /* what follows the name */
	const char *help;	    /* one line */
	unsigned int option_groups; /* 1 << enum option_group of the run options it takes */
	int misuse;		    /* exit status when it was not understood */
	struct command_flag flags[COMMAND_FLAGS_MAX + 1];
};
extern const struct command commands[];
extern const size_t command_count;

const struct command *command_find(const char *name);

int cmd_run(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_detach(int argc, char **argv);
int cmd_ps(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_kill(int argc, char **argv);
int cmd_freeze(int argc, char **argv);
int cmd_thaw(int argc, char **argv);
int cmd_update(int argc, char **argv);
int cmd_wait(int argc, char **argv);
int cmd_logs(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_conformance(int argc, char **argv);
int cmd_unload(int argc, char **argv);
int cmd_help(int argc, char **argv);

#endif
