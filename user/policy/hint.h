/* SPDX-License-Identifier: Apache-2.0 */
/* hint: the option that would have allowed what a file policy refused. Pure. */
#ifndef POLICY_HINT_H
#define POLICY_HINT_H

#include "policy/files.h"

/* What was wanted: one right, and whether it changes the directory around the object (create, remove,
 * rename, link): then it is that directory that has to be writable. */
struct hint_wanted {
	unsigned int right; /* enum file_right */
	bool entry;
};

/* As one would type it, quoted for sh: "--rw /srv/data", "--ro '/a b'", or "without --deny /x" where the
 * command line itself said so. Returns false, and leaves "", when no option would help. */
bool hint_text(const struct file_rule *rule, struct hint_wanted wanted, const char *object,
	       char *buf, size_t size);

/* The same for the network: `act` as a denial names it, `object` an address with its port, a port, or the name of
 * a unix socket. */
bool hint_net_text(const char *act, const char *object, char *buf, size_t size);

#endif
