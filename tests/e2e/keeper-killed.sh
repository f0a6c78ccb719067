#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 104, 133: SIGKILL to the supervisor itself takes the whole tree with it, in every shape; the next command
# sweeps up, and the record says what the kernel's receipt knows.
. "$(dirname "$0")/../lib/lib.sh"

no_more_with() { ! anybody_with "$1"; }
groups_of() { find /sys/fs/cgroup -type d -name "sbx-$1*" 2>/dev/null; }
newest() { basename "$(ls -td "$SBX_RUN_DIR"/??????????/ | head -n 1)"; }

killed() { # NAME OPTIONS -- COMMAND: its keeper is SIGKILLed
	local name=$1 begin
	shift
	cookie=$(unique_seconds)
	"$SBXCTL" run -p none "$@" "$cookie" stay >"$T/out" 2>&1 &
	keeper=$!
	assert "$name starts" wait_until 20 grep -q shapes "$T/out"
	id=$(newest)
	begin=$(date +%s%N)
	kill -KILL $keeper
	wait $keeper 2>/dev/null
	wait_until 5 no_more_with "$cookie" || fail "alive after its keeper: $name: $(ps -ef | grep "$cookie" | grep -v grep)"
	assert_le $((($(date +%s%N) - begin) / 1000000)) "$(slow_ms 1000)" "milliseconds until the tree was gone: $name"
}

swept() { # NAME OUTCOME KILLED_BY
	assert "no result before the sweep: $1" test ! -e "$SBX_RUN_DIR/$id/result.json"
	assert_eq "$("$SBXCTL" ps --json | jq -r ".[] | select(.id == \"$id\") | .id")" "" "$1 among the live runs"
	keep_result
	cp "$SBX_RUN_DIR/$id/result.json" "$T/result.json" || fail "no result after the sweep: $1"
	assert_eq "$(result '[.outcome, .killed_by] | @json')" "[\"$2\",$3]" "$1"
	assert_match "$(result .diagnostic)" 'keeper (died|left no result)' "diagnostic: $1"
	assert_result .tree.survivors 0
	assert_eq "$(result '.output.stdout.bytes')" null "what nobody counted: $1"
	assert_eq "$(groups_of "$id")" "" "groups left: $1"
	assert "the socket is gone: $1" test ! -e "$SBX_RUN_DIR/$id/sock"
}

killed "a run" -- "$AIDS/shapes"
swept "a run" owner_exited '"owner"'
assert_result .signal 9
killed "a run in its own pid namespace" --pid-ns on -- "$AIDS/shapes"
swept "a run in its own pid namespace" owner_exited '"owner"'
killed "a run with limits" -m 256M --pids 100 --private-tmp -t 1000 -- "$AIDS/shapes"
swept "a run with limits" owner_exited '"owner"'
assert_eq "$(result '[.limits.memory.value, .limits.pids.value, .limits.wall.value, .limits.wall.origin] | @json')" \
	'[268435456,100,1000000000000,"explicit"]' "its limits, on a record that its keeper did not write"

# From inside, by a root that calls its parent's number.
cookie=$(unique_seconds)
capture "$SBXCTL" run -p none -- sh -c "setsid sleep $cookie & sleep 0.1; kill -KILL \$PPID; exec sleep $cookie"
assert_eq "$rc" 137 "status of a keeper that its own command killed"
assert "nothing is left" wait_until 5 none_with "$cookie"
id=$(newest)
swept "a run that killed its keeper" owner_exited '"owner"'

# The command had ended before its keeper: the receipt has its exit code.
cookie=$(unique_seconds)
"$SBXCTL" run -p none --leftovers wait -- sh -c "sleep $cookie & echo \$\$ >'$T/root'; exit 7" &
keeper=$!
only_the_leftover() { [ -s "$T/root" ] && gone "$(cat "$T/root")" && [ -n "$(pids_with "$cookie")" ]; }
assert "the root ends and its leftover lives" wait_until 10 only_the_leftover
id=$(newest)
sleep 0.1
kill -KILL $keeper
wait $keeper 2>/dev/null
assert "the leftover dies with the keeper" wait_until 5 none_with "$cookie"
swept "a run whose root had exited" exited null
assert_result .exit_code 7
