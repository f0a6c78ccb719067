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
