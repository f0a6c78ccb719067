#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 33: a slow reader slows the command and never grows the keeper: the producer is found blocked in write(2), and
# the deadline fires all the same.
. "$(dirname "$0")/../lib/lib.sh"

cleanup() { exec 8<&-; }

rss_kb() { awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"; }
blocked() { # write(2) is system call 1 on x86-64, 64 on arm64
	grep -qE '^(1|64) 0x1 ' "/proc/$1/syscall" 2>/dev/null && sleep 0.1 && grep -qE '^(1|64) 0x1 ' "/proc/$1/syscall"
}

until=$(slow_ms 3000)
mkfifo "$T/sink"
exec 8<>"$T/sink"
"$SBXCTL" run -p none -t ${until}ms -k 0.2 --result "$T/result.json" -- \
	sh -c "echo \$\$ >'$T/pid'; exec head -c 1073741824 /dev/zero" >"$T/sink" 2>"$T/err" &
keeper=$!
assert "the producer starts" wait_until 20 test -s "$T/pid"
before=$(rss_kb $keeper)
producer=$(cat "$T/pid")
assert "the producer blocks in write()" wait_until 5 blocked "$producer"
timeout 20 head -c 50000000 <&8 >/dev/null || fail "50 MB did not come through in time"
assert "the producer blocks again after some of it was read" wait_until 5 blocked "$producer"
assert_le $(($(rss_kb $keeper) - before)) 2048 "KiB by which the keeper grew"

wait $keeper
assert_eq $? 124 "status"
assert_result .killed_by wall
assert_ge "$(result .output.stdout.bytes)" 50000000 "bytes that came through"
assert_le "$(result .output.stdout.bytes)" 52000000 "bytes that were taken from the command"
assert "the producer is gone" gone "$producer"

# The last word of a command that ended in order reaches a slow reader.
"$SBXCTL" run -p none -- sh -c 'head -c 300000 /dev/zero; echo the end' | (sleep 0.5 && cat >"$T/all")
assert_eq "$(stat -c %s "$T/all") $(tail -c 8 "$T/all")" "300008 the end" "what a slow reader got"
