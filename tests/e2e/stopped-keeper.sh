#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A keeper that is stopped holds nobody up: `ps` lists it as silent, `kill` kills its tree over its head.
. "$(dirname "$0")/../lib/lib.sh"
need_root

naps=$(unique_seconds)
id=$("$SBXCTL" run -p none -d -- sh -c 'setsid sleep "$0" & exec sleep "$0"' "$naps")
two() { [ "$(pgrep -fxc "sleep $naps")" = 2 ]; }
none() { ! pgrep -fx "sleep $naps" >/dev/null; }
assert "two sleepers" wait_until 5 two
keeper=$("$SBXCTL" inspect "$id" | jq .status.keeper_pid)
kill -STOP "$keeper"
cleanup() { kill -CONT "$keeper" 2>/dev/null; }

capture "$SBXCTL" ps
assert_eq "$rc" 0 "ps"
assert_match "$out" "$id +- +silent .* sh -c"
assert_le "$took_ms" 3000 "ps beside a stopped keeper"
capture "$SBXCTL" stop "$id"
assert_eq "$rc" 1 "stop"
assert_match "$err" "does not answer"
capture "$SBXCTL" kill "$id"
assert_eq "$rc" 0 "kill"
assert "the tree is gone" none
kill -CONT "$keeper"
capture "$SBXCTL" wait "$id"
assert_eq "$rc" 137 "the keeper, awake, tells how its root ended"
