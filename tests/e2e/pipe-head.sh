#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A reader that has enough ends the run quietly: `| head` returns at once, with 141 and nothing left.
. "$(dirname "$0")/../lib/lib.sh"
need_root
seconds=$(unique_seconds)

"$SBXCTL" run -p none -- yes 2>"$T/err" | head -n 3 >"$T/out"
status=("${PIPESTATUS[@]}")
assert_eq "$(cat "$T/out")" $'y\ny\ny' "what head kept"
assert_eq "${status[0]}" 141 "status of sbxctl"
assert_eq "$(cat "$T/err")" "" "stderr"

# A command that ignores SIGPIPE and left members behind does not go on either.
begin=$SECONDS
"$SBXCTL" run -p none -k 1 -- sh -c "trap '' PIPE; setsid -f sleep $seconds; while :; do echo y; done" 2>"$T/err" |
	head -n 1 >/dev/null
assert_le $((SECONDS - begin)) 4 "seconds until the call returned"
assert "nothing is left" wait_until 2 none_with "$seconds"
