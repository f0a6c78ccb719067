#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `logs` gives back what a run wrote, stream by stream and byte for byte: live, followed, ended, spilled, to a slow reader.
. "$(dirname "$0")/../lib/lib.sh"
need_root

# Live, then followed to the end.
id=$("$SBXCTL" run -p none -d -- sh -c 'echo one; echo two >&2; while [ ! -e "$0" ]; do sleep 0.02; done; echo three' "$T/go")
has_two() { "$SBXCTL" logs "$id" 2>&1 >/dev/null | grep -q two; }
assert "stderr is there" wait_until 5 has_two
capture "$SBXCTL" logs "$id"
assert_eq "$rc:$out:$err" "0:one:two" "logs of a live run"
"$SBXCTL" logs -f "$id" >"$T/followed" 2>"$T/followed.err" &
follower=$!
sleep 0.2
touch "$T/go"
wait $follower
assert_eq $? 0 "logs -f"
assert_eq "$(paste -sd' ' "$T/followed")" "one three" "followed"
assert_eq "$(cat "$T/followed.err")" two "followed stderr"
capture "$SBXCTL" logs "$id"
assert_eq "$rc:$out:$err" "0:one"$'\n'"three:two" "logs of an ended run"

# Nine megabytes of anything, through the spill, the live keeper and a reader that takes its time.
head -c 9000000 /dev/urandom >"$T/noise"
id=$("$SBXCTL" run -p none -d -- sh -c 'cat "$1"; while [ ! -e "$0" ]; do sleep 0.02; done' "$T/end" "$T/noise")
all_there() { [ "$("$SBXCTL" inspect "$id" | jq .status.output.stdout)" = 9000000 ]; }
assert "all of it is captured" wait_until 10 all_there
assert "live bytes are the bytes" cmp <("$SBXCTL" logs "$id") "$T/noise"
slowly() {
	local before=-1
	while [ "$(stat -c %s "$T/slow")" != $before ]; do
		before=$(stat -c %s "$T/slow")
		dd bs=1M count=1 iflag=fullblock status=none >>"$T/slow"
		sleep 0.1
	done
}
: >"$T/slow"
"$SBXCTL" logs -f "$id" | slowly &
follower=$!
sleep 0.3
touch "$T/end"
capture timeout 5 "$SBXCTL" wait "$id"
assert_eq "$rc" 0 "a slow reader does not hold up the run"
wait $follower
assert "a slow reader loses nothing" cmp "$T/slow" "$T/noise"
assert "the spill is the bytes" cmp <("$SBXCTL" logs "$id") "$T/noise"

# A reader that goes away is nobody's trouble.
id=$("$SBXCTL" run -p none -d -- sh -c 'while [ ! -e "$0" ]; do echo line; sleep 0.001; done; exit 3' "$T/stop")
"$SBXCTL" logs -f "$id" | head -n 3 >/dev/null
touch "$T/stop"
capture "$SBXCTL" wait "$id"
assert_eq "$rc" 3 "a run whose reader went away"
