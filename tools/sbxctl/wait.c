/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"
#include "print.h"
#include "target.h"

int cmd_wait(int argc, char **argv)
{
	struct err err = { 0 };
	struct target t;
	struct args a;
	int status, rc = args_parse(&a, argc, argv, 1, 1);

	if (rc)
		return rc;
	if (target_open(&t, a.word[0], &err))
		return print_err(argv[0], &err);
	rc = target_wait(&t, &status, &err);
	target_close(&t);
	return rc ? print_err(argv[0], &err) : status;
}
