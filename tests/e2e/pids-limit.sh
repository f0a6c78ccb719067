#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 60: no more than --pids processes and threads at once: the next fork is refused with EAGAIN, the run goes on,
# and it is recorded as hit, not as a kill.
. "$(dirname "$0")/../lib/lib.sh"

bounded() { # MODE
	sbx_run --pids 20 -t 60 -- "$AIDS/storm" "$1" 100
	assert_eq "$rc" 0 "status of $1"
	assert_match "$out" '^[0-9]+ Resource temporarily unavailable$' "what fork said in $1"
	assert_ge "${out%% *}" 15 "$1 made before the cap"
	assert_le "${out%% *}" 19 "$1 made before the cap"
	assert_eq "$(result '[.outcome, .killed_by, .limit] | @json')" '["exited",null,null]' "$1"
	assert_eq "$(result '[.limits_hit[] | select(.kind == "pids" and .count >= 1)] | length')" 1 "hits in $1"
	assert_le "$(result .tree.peak)" 20 "processes at once in $1"
	[ "$1" = threads ] || assert_result .tree.processes $((${out%% *} + 1))
	assert_eq "$(result '[.limits.pids.value, .limits.pids.still_in_force] | @json')" '[20,true]' "the limit"
}
bounded bomb
bounded threads

# Below it nothing is refused, without it neither.
sbx_run --pids 40 -- "$AIDS/storm" bomb 20
assert_eq "$out $(result '.limits_hit | length')" "20 all 0" "a cap that is not reached"
sbx_run -- "$AIDS/storm" threads 100
assert_eq "$out $(result '.limits_hit | length')" "100 all 0" "no cap"

# A real bomb is bounded, and the deadline ends it.
sbx_run --pids 30 -t 1 -k none -- bash -c 'bomb() { bomb | bomb & bomb; }; bomb 2>/dev/null'
assert_match "$rc" '^(0|124)$' "status of a shell's fork bomb"
assert_le "$(result .tree.peak)" 30 "its processes at once"
assert_result .tree.survivors 0

# Our init is none of the command's tasks: with a pid namespace the same number is enough, and one less is not.
for ns in off on; do
	sbx_run --pid-ns $ns --pids 2 -- sh -c '/bin/true; exit 3'
	assert_eq "$rc" 3 "a shell and a child under --pids 2 --pid-ns $ns"
	sbx_run --pid-ns $ns --pids 1 -- sh -c '/bin/true; exit 3'
	assert_eq "$rc $(result '[.limits_hit[].kind] | @json')" '2 ["pids"]' "under --pids 1 --pid-ns $ns"
done
