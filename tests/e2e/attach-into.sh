#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 173: a run takes in a process that somebody else started, with its children: it ends with the run, and stands
# under its bounds. Who was not handed over lives.
. "$(dirname "$0")/../lib/lib.sh"

need_root
cookie=$(unique_seconds)
cleanup() {
	local p
	for p in $(pids_with "$cookie"); do kill -KILL "$p"; done
}
left() { [ "$(pids_with "$cookie" | wc -l)" = "$1" ]; }
helper() { # $helper: a process of nobody's, with a child
	sh -c "sleep $cookie & sleep $cookie & wait" &
	helper=$!
	assert "the helper runs" wait_until 10 left "$1"
}

helper 2
sleep "$cookie" &
id=$("$SBXCTL" run -p none -d --name worker -- sleep 1000)
capture "$SBXCTL" attach --into worker "$helper"
assert_eq "$rc$out" 0 "status: $err"
assert_one_line "$err" "handed over 3 processes, 3 threads, which end with run $id" "what it says"
assert_eq "$("$SBXCTL" inspect "$id" | jq .status.tree.live)" 4 "processes of the run"
capture "$SBXCTL" attach --into "$id" "$helper"
assert_eq "$rc" 1 "status of a second time"
assert_one_line "$err" "process $helper is in run '$id' already" "its line"

# What is not one is refused, and nothing has changed.
capture "$SBXCTL" attach --into "$id" $$
assert_one_line "$err" "process $$ started this command" "ourselves"
capture "$SBXCTL" attach --into "$id" "$("$SBXCTL" inspect "$id" | jq .status.keeper_pid)"
assert_eq "$rc" 1 "status of the run's keeper"
capture "$SBXCTL" attach --into "$id" -m 64M "$helper"
assert_eq "$rc" 2 "status with options of a run"
capture "$SBXCTL" attach --into nowhere "$helper"
assert_eq "$rc" 1 "status without such a run"
assert_eq "$("$SBXCTL" inspect "$id" | jq .status.tree.live)" 4 "processes of the run"

assert "stop" "$SBXCTL" stop -t 1 "$id"
assert "the helper ends with the run, the stranger lives" wait_until 5 left 1
capture "$SBXCTL" attach --into "$id" "$(pids_with "$cookie")"
assert_eq "$rc" 1 "status of a run that has ended"
assert_match "$err" "has (already )?ended" "its line"
assert "the stranger lives" left 1

# Its worker is killed: the helper goes with the chain.
helper 3
"$SBXCTL" run -p none -- sleep 1000 &
keeper=$!
running() { [ "$("$SBXCTL" ps --json | jq length)" = 1 ]; }
assert "it runs" wait_until 10 running
id=$("$SBXCTL" ps --json | jq -r '.[0].id')
assert "hand over" "$SBXCTL" attach --into "$id" "$helper"
kill -KILL $keeper
assert "nothing of it is left" wait_until 5 left 1
"$SBXCTL" ps >/dev/null
