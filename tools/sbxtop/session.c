/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"
int session_run(struct watch *w, const struct options *o, struct err *err)
{
	(void)w, (void)o;
	return err_say(err, ERR_UNSUPPORTED, -1, "no screen yet: use --batch");
}
