/* SPDX-License-Identifier: Apache-2.0 */
#include "run/steps.h"

/* clang-format off */
/* One more than the state, so that a forgotten cell is 0 and the unit test finds it. */
#define TO(state) (RUN_##state + 1)
static const unsigned char steps[RUN_STATE__COUNT][RUN_EVENT__COUNT] = {
	/*                  ROOT_EXIT     ROOT_LINGER     SIGNAL           END_GRACE     END_NOW       GRACE_OVER     TREE_EMPTY     KILL_BUDGET    DRAINED        DETACH */
	[RUN_NEW]         = {TO(NEW),      TO(NEW),       TO(NEW),         TO(NEW),      TO(NEW),      TO(NEW),       TO(NEW),       TO(NEW),       TO(NEW),       TO(NEW)},
	[RUN_RUNNING]     = {TO(KILLING),  TO(LINGERING), TO(INTERRUPTED), TO(GRACE),    TO(KILLING),  TO(RUNNING),   TO(RUNNING),   TO(RUNNING),   TO(RUNNING),       TO(DRAINING)},
	[RUN_LINGERING]   = {TO(LINGERING),TO(LINGERING), TO(GRACE),       TO(GRACE),    TO(KILLING),  TO(LINGERING), TO(KILLING),   TO(LINGERING), TO(LINGERING),       TO(DRAINING)},
	[RUN_INTERRUPTED] = {TO(KILLING),  TO(KILLING),   TO(KILLING),     TO(GRACE),    TO(KILLING),  TO(KILLING),   TO(KILLING),   TO(INTERRUPTED), TO(INTERRUPTED),       TO(DRAINING)},
	[RUN_GRACE]       = {TO(GRACE),    TO(GRACE),     TO(KILLING),     TO(GRACE),    TO(KILLING),  TO(KILLING),   TO(KILLING),   TO(GRACE),     TO(GRACE),       TO(DRAINING)},
	[RUN_KILLING]     = {TO(KILLING),  TO(KILLING),   TO(KILLING),     TO(KILLING),  TO(KILLING),  TO(KILLING),   TO(DRAINING),  TO(DRAINING),  TO(KILLING),       TO(KILLING)},
	[RUN_DRAINING]    = {TO(DRAINING), TO(DRAINING),  TO(DRAINING),    TO(DRAINING), TO(DRAINING), TO(DRAINING),  TO(DRAINING),  TO(DRAINING),  TO(ENDED),       TO(DRAINING)},
	[RUN_ENDED]       = {TO(ENDED),    TO(ENDED),     TO(ENDED),       TO(ENDED),    TO(ENDED),    TO(ENDED),     TO(ENDED),     TO(ENDED),     TO(ENDED),       TO(ENDED)},
};
/* clang-format on */

enum run_state run_step(enum run_state state, enum run_event event)
{
	return (enum run_state)(steps[state][event] - 1);
}

const char *run_state_name(enum run_state state)
{
	static const char *const names[RUN_STATE__COUNT] = {
		[RUN_NEW] = "preparing",       [RUN_RUNNING] = "running",
		[RUN_LINGERING] = "lingering", [RUN_INTERRUPTED] = "stopping",
		[RUN_GRACE] = "stopping",      [RUN_KILLING] = "killing",
		[RUN_DRAINING] = "draining",   [RUN_ENDED] = "ended",
	};
	return names[state];
}
