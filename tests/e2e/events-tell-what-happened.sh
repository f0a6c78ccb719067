#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `events` names what happened, exactly once, and never what did not (174); it carries nothing private (163).
. "$(dirname "$0")/../lib/lib.sh"
need_root

canary=canary$RANDOM$RANDOM
kinds() { jq -r .event "$1" | sort | uniq -c | awk '{ print $2 "=" $1 }' | paste -sd' '; }

# A crash, an exec and a child, followed from the start.
"$SBXCTL" events -f >"$T/all" &
follower=$!
cleanup() { kill "$follower" 2>/dev/null; }
sleep 0.3
export LC_CANARY=$canary
id=$("$SBXCTL" run -p none -d --label "c=$canary" -- sh -c 'sleep 0.4; echo "$0"; true & wait; kill -SEGV $$' "$canary")
"$SBXCTL" wait "$id"
ended() { grep -q '"run_ended".*'"$id" "$T/all"; }
assert "the end is told" wait_until 5 ended
jq -c --arg id "$id" 'select(.id == $id)' "$T/all" >"$T/crash"
assert_match "$(kinds "$T/crash")" "process_signaled=1 .*run_ended=1 run_started=1"
assert_no_match "$(kinds "$T/crash")" "limit_exceeded|internal_error|dropped"
assert_eq "$(jq -r 'select(.event == "process_signaled") | .signal' "$T/crash")" 11 "the signal"
assert_eq "$(jq -r 'select(.event == "run_ended") | .outcome' "$T/crash")" signaled "the outcome"
assert_eq "$(head -n 1 "$T/crash" | jq -r .event)" run_started "the first event"
assert_eq "$(tail -n 1 "$T/crash" | jq -r .event)" run_ended "the last event"
assert "no argument, variable, label or output is in there" bash -c '! grep -q "$0" "$1"' "$canary" "$T/all"

# A clean run has none of the failures.
id=$("$SBXCTL" run -p none -d -- sleep 0.3)
"$SBXCTL" events -f "$id" >"$T/clean"
assert_no_match "$(kinds "$T/clean")" "signaled|limit_exceeded|internal_error|dropped"
assert_match "$(kinds "$T/clean")" "process_exited=1 .*run_ended=1"

# A limit.
id=$("$SBXCTL" run -p none -d -t 300ms -k 100ms -- sleep 30)
"$SBXCTL" events -f "$id" >"$T/limit"
assert_match "$(kinds "$T/limit")" "limit_exceeded=1 .*run_ended=1"
assert_eq "$(jq -r 'select(.event == "limit_exceeded") | .kind, .configured' "$T/limit" | paste -sd' ')" "wall 300000000" "limit"
capture "$SBXCTL" events "$id"
assert_eq "$(jq -r .event <<<"$out" | paste -sd' ')" "limit_exceeded run_ended" "events of an ended run"

# A client that does not read misses events and is told how many; the run is not held up.
id=$("$SBXCTL" run -p none -d -- sh -c 'i=0; sleep 0.5; while [ $i -lt 500 ]; do /bin/true; i=$((i+1)); done')
"$SBXCTL" events -f "$id" | { wait_until 30 test -e "$T/read"; cat; } >"$T/late" &
reader=$!
capture timeout 30 "$SBXCTL" wait "$id"
assert_eq "$rc" 0 "a run whose events nobody reads"
touch "$T/read"
wait $reader
assert_eq "$(jq -r 'select(.event == "dropped") | .event' "$T/late" | head -n 1)" dropped "lost events are said"
assert_eq "$(tail -n 1 "$T/late" | jq -r .event)" run_ended "the end is told even to who was late"
