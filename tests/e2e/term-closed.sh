#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Closing the terminal ends the tree, also what ignores SIGHUP or left the session.
. "$(dirname "$0")/../lib/lib.sh"
need_root
seconds=$(unique_seconds)
term_start
cat >"$T/job" <<END
setsid -f sleep $seconds
nohup sleep $seconds >/dev/null 2>&1 &
trap '' HUP
sleep $seconds
END
term_line "\$SBXCTL run -p none -k 1 -- sh '$T/job'"
three() { [ "$(pids_with "$seconds" | wc -l)" = 3 ]; }
assert "three sleepers run" wait_until 5 three
term_stop
assert "nothing survives the terminal" wait_until 8 none_with "$seconds"
