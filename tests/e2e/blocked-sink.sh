#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 38: a reader that takes nothing delays neither the deadline nor the kill, and what was captured is complete.
. "$(dirname "$0")/../lib/lib.sh"

cleanup() { exec 8<&- 9<&-; }

mkfifo "$T/full" "$T/full2"
exec 8<>"$T/full" 9<>"$T/full2"
for fd in 8 9; do # nothing fits any more
	/usr/bin/python3 -c "
import os
os.set_blocking($fd, False)
try:
    while True: os.write($fd, b'x' * 4096)
except BlockingIOError: os.set_blocking($fd, True)"
done

sbx_run_into_full() { # OPTIONS: 100 KB on each stream, neither of which takes a byte
	local begin
	keep_result
	begin=$(date +%s%N)
	"$SBXCTL" run -p none --result "$T/result.json" "$@" >&8 2>&9
	rc=$?
	took_ms=$((($(date +%s%N) - begin) / 1000000))
}

sbx_run_into_full -q -t 0.5 -k 0.2 -- sh -c 'head -c 100000 /dev/zero | tr "\0" o; head -c 100000 /dev/zero | tr "\0" e >&2
	exec sleep 1000'
assert_eq "$rc $(result .killed_by)" "124 wall" "status and cause"
assert_le "$took_ms" "$(slow_ms 3000)" "milliseconds"
assert_eq "$(result '.output | [.stdout.bytes, .stderr.bytes, (.stdout.text | length)] | @json')" \
	'[100000,100000,100000]' "what was captured"
assert_result .tree.survivors 0

# Killed by somebody else's order, too.
(sleep 0.5 && kill -TERM "$(cat "$T/keeper")") &
sbx_run_into_full -q -k 0.2 -- sh -c "echo \$PPID >'$T/keeper'; trap '' TERM; while :; do echo x; done"
assert_eq "$rc $(result .killed_by)" "143 signal" "status and cause"
assert_le "$took_ms" "$(slow_ms 4000)" "milliseconds"

# A command that has written all it had and is gone: the wait for its reader ends with the deadline, with stop and with
# a signal, as the command itself would have ended in its write.
sbx_run_into_full -q -t 0.5 -- head -c 100000 /dev/zero
assert_eq "$rc $(result '.outcome, .killed_by, .exit_code' | paste -sd' ')" "124 limit_exceeded wall 0" "the deadline"
assert_le "$took_ms" "$(slow_ms 3000)" "milliseconds"
assert_result .output.stdout.bytes 100000
assert_match "$(result .diagnostic)" "not read"

name=quiet$$
draining() { "$SBXCTL" ps --json | jq -e --arg n $name '.[] | select(.name == $n) | .state == "draining"' >/dev/null; }
stop_it() { wait_until 5 draining && capture "$SBXCTL" stop $name && echo "$rc" >"$T/stop"; }
stop_it &
sbx_run_into_full -q --name $name -t 20 -- head -c 100000 /dev/zero
wait $!
assert_eq "$(cat "$T/stop") $rc $(result .killed_by)" "0 137 stop" "stop"

(wait_until 5 draining && kill -TERM "$(cat "$T/keeper")") &
sbx_run_into_full -q --name $name -t 20 -- sh -c "echo \$PPID >'$T/keeper'; head -c 100000 /dev/zero"
wait $!
assert_eq "$rc $(result .killed_by)" "143 signal" "SIGTERM"

# A reader that is only slow gets it all.
mkfifo "$T/slow"
(sleep 0.7 && cat) <"$T/slow" >"$T/read" &
"$SBXCTL" run -p none -t 20 -- head -c 300000 /dev/zero >"$T/slow"
rc=$?
wait $!
assert_eq "$rc $(stat -c %s "$T/read")" "0 300000" "a slow reader"
