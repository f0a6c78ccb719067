#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `stop` gives the whole tree SIGTERM and its grace, kills what ignores it, and returns when the run has ended.
. "$(dirname "$0")/../lib/lib.sh"
need_root

# Root and a child in a session of its own both clean up.
cat >"$T/tidy.sh" <<'EOF'
trap 'echo root >>"$1"; exit 0' TERM
setsid sh -c 'trap "echo child >>\"$1\"; exit 0" TERM; echo up >>"$1"; while :; do sleep 0.02; done' child "$1" &
while :; do sleep 0.02; done
EOF
id=$("$SBXCTL" run -p none -d -- sh "$T/tidy.sh" "$T/marks")
assert "the child is up" wait_until 5 grep -q up "$T/marks"
capture "$SBXCTL" stop "$id"
assert_eq "$rc" 0 "stop"
assert_eq "$(sort "$T/marks" | paste -sd' ')" "child root up" "who cleaned up"
assert_le "$took_ms" 1900 "stop of a tree that listens"
assert_eq "$(jq -r '.outcome, .killed_by' "$SBX_RUN_DIR/$id/result.json" | paste -sd' ')" "stopped stop" "result"

# One that does not listen is killed after its grace, no sooner.
cat >"$T/deaf.sh" <<'EOF'
trap '' TERM
echo up >"$1"
while :; do sleep "$2"; done
EOF
naps=$(unique_seconds)
id=$("$SBXCTL" run -p none -d -k 500ms -- sh "$T/deaf.sh" "$T/deaf" "$naps")
assert "it is up" wait_until 5 test -s "$T/deaf"
capture "$SBXCTL" stop "$id"
assert_eq "$rc" 0 "stop of a deaf one"
assert_ge "$took_ms" 450 "grace"
assert_le "$took_ms" 3000 "grace"
assert "nothing is left" none_with "$naps"

# Twice is a statement about a run that has ended.
capture "$SBXCTL" stop "$id"
assert_eq "$rc" 1 "stop of an ended run"
assert_match "$err" "has already ended"
capture "$SBXCTL" stop
assert_eq "$rc" 2 "stop of nothing"

# Another grace than the run's own: shorter, none at all, shorter still while it is stopping.
deaf() { # OPTIONS: a deaf run, up
	rm -f "$T/deaf"
	id=$("$SBXCTL" run -p none -d "$@" -- sh "$T/deaf.sh" "$T/deaf" "$naps")
	assert "it is up" wait_until 5 test -s "$T/deaf"
}
deaf -k 30s
capture "$SBXCTL" stop -t 400ms "$id"
assert_eq "$rc" 0 "stop -t"
assert_ge "$took_ms" 350 "grace"
assert_le "$took_ms" 3000 "grace"
deaf -k 30s
capture "$SBXCTL" stop --timeout=none "$id"
assert_eq "$rc" 0 "stop --timeout=none"
assert_le "$took_ms" 1500 "no grace"
deaf -k 30s
"$SBXCTL" stop "$id" &
assert "it is stopping" wait_until 5 eval '[ "$("$SBXCTL" inspect "$id" | jq -r .status.state)" = stopping ]'
capture "$SBXCTL" stop -t 100ms "$id"
assert_eq "$rc" 0 "a second stop"
assert_le "$took_ms" 3000 "a second stop"
wait $!
assert "nothing is left" none_with "$naps"

# A longer one does not outlast the deadline.
deaf -t 1s -k 200ms
capture "$SBXCTL" stop -t 1h "$id"
assert_eq "$rc" 0 "stop -t 1h"
assert_le "$took_ms" 4000 "grace beyond the deadline"
for bad in 0 -1 5x ''; do
	capture "$SBXCTL" stop -t "$bad" "$id"
	assert_eq "$rc" 2 "stop -t '$bad'"
	assert_one_line "$err" '^sbxctl stop: -t ' "its line"
done
