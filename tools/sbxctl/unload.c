/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"
#include "kern/kern.h"
#include "print.h"
#include "run/sweep.h"

int cmd_unload(int argc, char **argv)
{
	struct err err = { 0 };
	struct args a;
	int rc = args_parse(&a, argc, argv, 0, 0);

	if (rc)
		return rc;
	/* What a dead keeper left must not keep the kernel half in. */
	sweep_dead();
	return kern_unload(&err) ? print_err(argv[0], &err) : 0;
}
