/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fault.h"

#ifdef SBX_FAULTS
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fault_point(const char *name)
{
	const char *asked = getenv("SBX_FAULT");
	size_t len = strlen(name);

	if (!asked || strncmp(asked, name, len) != 0 || asked[len] != ':')
		return 0;
	asked += len + 1;
	if (!strcmp(asked, "crash"))
		kill(getpid(), SIGKILL);
	if (!strcmp(asked, "sleep"))
		sleep(60);
	if (!strcmp(asked, "drop"))
		return 1;
	return !strcmp(asked, "fail") ? -EIO : 0;
}
#endif
