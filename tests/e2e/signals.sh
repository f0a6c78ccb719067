#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 111 and DESIGN 8: INT, TERM, HUP and QUIT reach the command; if it exits, its status counts, else its caller
# sees the same signal; a second one kills. USR1 and USR2 are passed on, TSTP freezes and CONT thaws.
. "$(dirname "$0")/../lib/lib.sh"

soon=$(slow_ms 1500)

start() { # SCRIPT [OPTIONS]: $keeper, once the command has made $T/up
	local script=$1
	shift
	rm -f "$T/up" "$T/got"
	keep_result
	/usr/bin/python3 -c '
import os, signal, sys
for s in (signal.SIGINT, signal.SIGQUIT): signal.signal(s, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$SBXCTL" run -p none --result "$T/result.json" "$@" -- \
		bash -c "ulimit -c 0; $script" >"$T/out" 2>"$T/err" &
	keeper=$!
	assert "the command starts" wait_until 20 test -e "$T/up"
}
# How the keeper itself ended, as a parent sees it: a status, or "signal N".
ended() {
	local begin
	begin=$(date +%s%N)
	wait $keeper
	rc=$?
	took_ms=$((($(date +%s%N) - begin) / 1000000))
}

for pair in INT:2 TERM:15 HUP:1 QUIT:3; do
	name=${pair%:*} number=${pair#*:}
	start "trap 'echo $name >\"$T/got\"; exit 33' $name; touch '$T/up'; while :; do sleep 0.02; done"
	kill -"$name" $keeper
	ended
	assert_eq "$rc $(cat "$T/got")" "33 $name" "a handler's status after SIG$name"
	assert_eq "$(result '[.outcome, .exit_code, .killed_by] | @json')" '["exited",33,null]' "handled SIG$name"

	start "trap - $name; touch '$T/up'; exec sleep 1000"
	sleep 0.2 # a shell that still waits for touch would keep the signal to itself
	kill -"$name" $keeper
	ended
	assert_eq "$rc" $((128 + number)) "status after SIG$name"
	assert_eq "$(result '[.outcome, .signal, .killed_by] | @json')" "[\"signaled\",$number,\"signal\"]" "SIG$name"
	assert_le "$took_ms" "$soon" "milliseconds after SIG$name"
done

# Really the same signal, not only its number.
how=$(/usr/bin/python3 -c '
import os, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "run", "-p", "none", "-q", "--", "sh", "-c", "touch up; exec sleep 1000"], cwd=sys.argv[2])
while not os.path.exists(sys.argv[2] + "/up"): time.sleep(0.01)
p.send_signal(signal.SIGINT)
print(p.wait())' "$SBXCTL" "$(mktemp -d -p "$T")")
assert_eq "$how" -2 "how the parent sees an interrupted run end"

# Who ignores it has the grace, or until the second one.
start "trap '' TERM INT; touch '$T/up'; while :; do sleep 0.02; done" -k 0.4
kill -TERM $keeper
ended
assert_eq "$rc" 143 "status of one that ignores TERM"
assert_ge "$took_ms" 300 "milliseconds of grace"
start "trap '' TERM INT; touch '$T/up'; while :; do sleep 0.02; done" -k 100
kill -TERM $keeper
sleep 0.2
assert "it lives after the first" alive $keeper
kill -TERM $keeper
ended
assert_eq "$rc $(result .signal)" "143 9" "after the second"
assert_le "$took_ms" "$soon" "milliseconds after the second"

# To the root's process group, as a terminal would; other sessions get theirs when the grace is over.
start "(trap 'touch \"$T/got\"; exit' INT; while :; do sleep 0.02; done) & trap 'wait; exit 0' INT; touch '$T/up'; wait"
sleep 0.1
kill -INT $keeper
ended
assert_eq "$rc" 0 "status of a group that was interrupted"

for name in USR1 USR2; do
	start "trap 'echo $name >>\"$T/got\"' $name; trap 'exit 34' TERM; touch '$T/up'; while :; do sleep 0.02; done"
	kill -$name $keeper
	assert "SIG$name is passed on" wait_until 5 test -s "$T/got"
	assert "and ends nothing" alive $keeper
	kill -TERM $keeper
	ended
	assert_eq "$rc" 34 "status after SIG$name and SIGTERM"
done

# TSTP: the tree stands still, then we stop, so that the shell notices; CONT goes on.
start "trap 'exit 35' TERM; touch '$T/up'; while :; do echo >>'$T/beat'; sleep 0.02; done"
kill -TSTP $keeper
state() { cut -d')' -f2- "/proc/$keeper/stat" | cut -c2; }
keeper_stopped() { [ "$(state)" = T ]; }
assert "the keeper stops" wait_until 5 keeper_stopped
sleep 0.1
beats=$(wc -l <"$T/beat")
sleep 0.3
assert_eq "$(wc -l <"$T/beat")" "$beats" "beats of a tree that was suspended"
kill -CONT $keeper
beats_again() { [ "$(wc -l <"$T/beat")" -gt "$beats" ]; }
assert "it beats again" wait_until 5 beats_again
kill -TERM $keeper
ended
assert_eq "$rc" 35 "status at last"
