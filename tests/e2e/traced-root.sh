#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 1, 16: a command that ends while one of its own processes traces it is a zombie for that process alone: no SIGCHLD,
# nothing to wait for. Its end is seen at once all the same, with its status, and the tracer dies.
. "$(dirname "$0")/../lib/lib.sh"
need_root

cookie=$(unique_seconds)
traced() { # STATUS OPTIONS
	local status=$1
	shift
	sbx_run -t 20 "$@" -- "$AIDS/traced" "$cookie" "$status"
	assert_eq "$rc" "$status" "status ($*)"
	assert_le "$took_ms" "$(slow_ms 3000)" "milliseconds ($*)"
	assert_result .tree.survivors 0
	assert "nothing is left ($*)" wait_until 5 none_with "$cookie"
}
traced 7
assert_eq "$(result '[.outcome, .exit_code, .killed_by, .tree.processes] | @json')" '["exited",7,null,2]' "result"
traced 0 --pid-ns on
traced 137
assert_eq "$(result '[.outcome, .signal] | @json')" '["signaled",9]' "result"

# The receipt serves where the tree outlives its root, too.
begin=$SECONDS
"$SBXCTL" run -p none -t 3 -k none --leftovers keep --result "$T/kept.json" -- "$AIDS/traced" "$cookie" 9
assert_eq "$?" 9 "status with leftovers"
assert_le $((SECONDS - begin)) 2 "seconds"
assert "the deadline bounds what was kept" wait_until 10 none_with "$cookie"
