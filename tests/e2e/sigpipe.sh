#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# DESIGN 8: when the reader of our output has gone, the command meets SIGPIPE as it would have, what ignores it has its
# grace and is killed, and we end with 141.
. "$(dirname "$0")/../lib/lib.sh"

piped() { # OPTIONS -- COMMAND, into head -n 1
	local begin
	keep_result
	begin=$(date +%s%N)
	"$SBXCTL" run -p none --result "$T/result.json" "$@" 2>"$T/err" | head -n 1 >"$T/out"
	rc=${PIPESTATUS[0]}
	took_ms=$((($(date +%s%N) - begin) / 1000000))
}

piped -- yes
assert_eq "$rc $(cat "$T/out")" "141 y" "yes into head"
assert_le "$took_ms" "$(slow_ms 2000)" "milliseconds"
assert_result .tree.survivors 0
bare=$(yes | head -n 1; echo "${PIPESTATUS[0]}")
assert_eq "$bare" "y
141" "the same without us"

cookie=$(unique_seconds)
piped -k 0.3 -- bash -c "trap '' PIPE; while :; do echo y; done; sleep $cookie"
assert_eq "$rc" 141 "status of one that ignores SIGPIPE"
assert_result .tree.survivors 0
piped -k 0.3 -- sh -c "yes & setsid sleep $cookie & wait; sleep $cookie"
assert_eq "$rc" 141 "status when it is a child that writes"
assert "nothing is left" none_with "$cookie"

# One that ends by itself before it notices has its own status; an unread rest is no reason to hang.
piped -- sh -c 'echo one; echo two; sleep 0.2; exit 3'
assert_match "$rc" '^(3|141)$' "status of one that had written all"
capture bash -c '"$1" run -p none -t 20 -- seq 1 1000000 | true; echo "${PIPESTATUS[0]}"' _ "$SBXCTL"
assert_match "$out" '^(0|141)$' "into a reader that never reads"

# Only the stream whose reader has gone is closed: the command's words on the other one still arrive.
capture bash -c '"$1" run -p none -- bash -c "trap \"\" PIPE; while echo y; do :; done 2>/dev/null; echo the last word >&2; exit 4" |
	head -n 1; exit "${PIPESTATUS[0]}"' _ "$SBXCTL"
assert_eq "$rc $out $err" "4 y the last word" "a command that goes on after its reader has gone"
