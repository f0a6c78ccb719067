/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "policy/option.h"
#include "commands.h"
#include "usage.h"

/* name, function, synopsis, help, run options it takes, exit status for misuse, options of its
 * own. */
const struct command commands[] = {
	{ "help",
	  cmd_help,
	  "[COMMAND]",
	  "what a command does and takes",
	  0,
	  SBXCTL_EXIT_MISUSE,
	  { { 0 } } },
};
const size_t command_count = sizeof(commands) / sizeof(commands[0]);
_Static_assert(sizeof(commands) / sizeof(commands[0]) <= COMMANDS_MAX, "raise COMMANDS_MAX");

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}
