#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A keeper is at most 2 MiB resident soon after its command has started, and does its work as before.
. "$(dirname "$0")/../lib/lib.sh"

need_root
[[ $SBXCTL != */san/* ]] || skip "a sanitizer keeps memory of its own"
id=$("$SBXCTL" run -p none -d -t 60 -- sh -c 'echo begin; sleep 60')
keeper=$(jq .keeper_pid "$SBX_RUN_DIR/$id/meta.json")
rests() { [ "$(awk '/^VmRSS:/ { print $2 }' "/proc/$keeper/status")" -le 2048 ]; }
sleep 0.2
assert "the keeper is at most 2 MiB: $(grep -E '^(VmRSS|Rss)' "/proc/$keeper/status" | tr -s '\t \n' ' ')" wait_until 5 rests
assert_eq "$("$SBXCTL" logs "$id")" begin "what it kept"
capture "$SBXCTL" stop "$id"
assert_eq "$rc" 0 "stop"
capture "$SBXCTL" wait "$id"
assert_eq "$rc" 137 "the end"
