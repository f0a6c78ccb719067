#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 7, 8: a disk that is full when a run ends costs its record the details, not the end: the status is the command's, and
# once there is room it is known from the kernel's receipt.
. "$(dirname "$0")/../lib/lib.sh"
need_root

small=$T/small
cleanup() {
	"$LIB_ROOT/tests/lib/unload" "$small/run"
	umount "$small"
}
mkdir "$small"
mount -t tmpfs -o size=1m,mode=711 sbx-small "$small" || fail "mount a small tmpfs"
export SBX_RUN_DIR=$small/run

sbx_run -- true
assert_eq "$rc" 0 "a run with room"
sbx_run --name crowded -- sh -c "dd if=/dev/zero of='$small/fill' bs=4k 2>/dev/null; exit 6"
assert_eq "$rc" 6 "status"
assert_eq "$(result '.outcome, .exit_code' | paste -sd' ')" "exited 6" "what --result got"
assert_match "$(result .diagnostic)" "result.json.*No space left" "diagnostic"
id=$(result .id)
capture "$SBXCTL" wait "$id"
assert_eq "$rc" 1 "wait without room"

rm "$small/fill"
capture "$SBXCTL" wait "$id"
assert_eq "$rc" 6 "wait with room"
assert_eq "$(jq -r '.outcome, .exit_code' "$SBX_RUN_DIR/$id/result.json" | paste -sd' ')" "exited 6" "the record"
assert_match "$(jq -r .diagnostic "$SBX_RUN_DIR/$id/result.json")" "receipt" "where it is from"

# Full from the start: nothing runs.
dd if=/dev/zero of="$small/fill" bs=4k 2>/dev/null
sbx_run -- touch "$T/ran"
assert_eq "$rc" 125 "status without room"
assert_one_line "$err" "No space left" "its line"
assert "nothing ran" test ! -e "$T/ran"
rm "$small/fill"
