/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "usage.h"

int cmd_help(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		usage_all(stdout);
		return 0;
	}
	if (argc > 2)
		return usage_refuse(argv[0], "one command at a time");
	if (!strcmp(argv[1], "--table")) {
		usage_table(stdout);
		return 0;
	}
	command = command_find(argv[1]);
	if (!command)
		return usage_refuse(argv[0], "%s: no such command; `sbxctl help` lists them",
				    argv[1]);
	usage_command(stdout, command);
	return 0;
}
