#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `unload` takes the kernel half out when no sandbox lives and refuses otherwise; the next run loads it again.
. "$(dirname "$0")/../lib/lib.sh"
need_root

naps=$(unique_seconds)
id=$("$SBXCTL" run -p none -d -- sleep "$naps")
capture "$SBXCTL" unload
assert_eq "$rc" 1 "unload beside a live run"
assert_match "$err" "alive.*sbxctl ps"
assert_eq "$("$SBXCTL" inspect "$id" | jq -r .status.state)" running "it lives on"
"$SBXCTL" kill "$id"

# A dead keeper's sandbox is no reason to stay.
naps=$(unique_seconds)
id=$("$SBXCTL" run -p none -d -- sleep "$naps")
kill -KILL "$("$SBXCTL" inspect "$id" | jq .status.keeper_pid)"
assert "it is dead" wait_until 2 none_with "$naps"
capture "$SBXCTL" unload
assert_eq "$rc$err" 0 "unload"
capture "$SBXCTL" unload
assert_eq "$rc" 0 "unload of nothing"
capture "$SBXCTL" run -p none -- echo again
assert_eq "$out" again "the next run"
