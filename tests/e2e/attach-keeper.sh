#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 169: the keeper of an attached tree does not own it. When it dies the tree goes on, tracked and with its owner
# watched; who asks is told, kill and detach still work. --kill-with-keeper is asked for.
. "$(dirname "$0")/../lib/lib.sh"

cleanup() {
	local p
	for p in $(pids_with "$cookie"); do kill -KILL "$p"; done
}
cookie=$(unique_seconds)
two_with() { [ "$(pids_with "$1" | wc -l)" = 2 ]; }

orphaned() { # OPTIONS...: $root, $id; the keeper is dead
	sh -c "sleep $cookie & setsid sleep $cookie & wait" &
	root=$!
	assert "it runs" wait_until 10 two_with "$cookie"
	capture "$SBXCTL" attach -p none "$@" "$root"
	[ "$rc" = 0 ] || fail "attach: $err"
	id=$out
	keeper=$("$SBXCTL" inspect "$id" | jq -r .status.keeper_pid)
	kill -KILL "$keeper"
	assert "the keeper is dead" wait_until 5 gone "$keeper"
}
orphan() { "$SBXCTL" ps --json | jq -e ".[] | select(.id == \"$id\" and .state == \"orphan\")" >/dev/null; }

orphaned
sleep 0.2
assert "the tree goes on" two_with "$cookie"
assert "ps says so" orphan
assert "and does not sweep it" two_with "$cookie"
capture "$SBXCTL" freeze "$id"
assert_eq "$rc" 1 "status of what needs a keeper"
assert_one_line "$err" 'has lost its keeper and goes on: sbxctl kill ends it, sbxctl detach lets it go' "its line"
kill -TERM "$root"
assert "its owner is still watched" wait_until 5 none_with "$cookie"
"$SBXCTL" ps >/dev/null
assert_eq "$(jq -r '[.outcome, .signal] | @json' "$SBX_RUN_DIR/$id/result.json")" '["signaled",15]' "from the receipt"

orphaned
assert "kill" "$SBXCTL" kill "$id"
assert "nothing is left" wait_until 5 none_with "$cookie"
assert_eq "$("$SBXCTL" ps --json | jq length)" 0 "runs left"

orphaned
assert "detach" "$SBXCTL" detach "$id"
assert "the tree goes on" two_with "$cookie"
assert_eq "$(jq -r .outcome "$SBX_RUN_DIR/$id/result.json")" detached "its result"
assert_eq "$("$SBXCTL" ps --json | jq length)" 0 "runs left"
kill "$root"
for p in $(pids_with "$cookie"); do kill "$p"; done

sleep 1000 &
owner=$!
orphaned --owner $owner
kill -KILL $owner
assert "another owner is watched, too" wait_until 5 none_with "$cookie"

orphaned --kill-with-keeper
assert "dies with its keeper where that was asked for" wait_until 5 none_with "$cookie"
"$SBXCTL" ps >/dev/null
