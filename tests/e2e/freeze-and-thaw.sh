#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `freeze` stops a whole tree where it is, `thaw` lets it go on; the deadline runs on and kills a frozen tree.
. "$(dirname "$0")/../lib/lib.sh"
need_root

cat >"$T/tick.sh" <<'EOF'
setsid sh -c 'while :; do echo t >>"$1"; sleep 0.01; done' ticker "$1" &
while :; do sleep 0.05; done
EOF
ticks() { stat -c %s "$T/ticks" 2>/dev/null || echo 0; }
more_than() { [ "$(ticks)" -gt "$1" ]; }

id=$("$SBXCTL" run -p none -d -t 60s -- sh "$T/tick.sh" "$T/ticks")
assert "it ticks" wait_until 5 more_than 10
capture "$SBXCTL" freeze "$id"
assert_eq "$rc" 0 "freeze"
sleep 0.2
before=$(ticks)
sleep 0.4
assert_eq "$(ticks)" "$before" "ticks of a frozen tree"
capture "$SBXCTL" ps --json
assert_eq "$(jq -r --arg id "$id" '.[] | select(.id == $id) | .state' <<<"$out")" frozen "state"
capture "$SBXCTL" thaw "$id"
assert_eq "$rc" 0 "thaw"
assert "it ticks again" wait_until 5 more_than "$before"
capture "$SBXCTL" kill "$id"
assert_eq "$rc" 0 "kill"
capture "$SBXCTL" freeze "$id"
assert_eq "$rc" 1 "freeze of an ended run"

naps=$(unique_seconds)
id=$("$SBXCTL" run -p none -d -t 700ms -k 100ms -- sleep "$naps")
"$SBXCTL" freeze "$id"
capture "$SBXCTL" wait "$id"
assert_eq "$rc" 124 "a frozen run at its deadline"
assert "nothing is left" none_with "$naps"

# Who is to clean up has to be able to run: a signal thaws as stop does.
cat >"$T/clean" <<'EOF2'
trap 'echo cleaned; exit 4' TERM
echo $PPID >"$1"
while :; do sleep 0.05; done
EOF2
(wait_until 5 test -s "$T/frozen-keeper" && "$SBXCTL" freeze cold$$ && kill -TERM "$(cat "$T/frozen-keeper")") &
sbx_run --name cold$$ -- sh "$T/clean" "$T/frozen-keeper"
assert_eq "$rc $out" "4 cleaned" "a signal for a frozen run"
