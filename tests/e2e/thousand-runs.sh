#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A thousand runs, eight at a time, all succeed, none inherits what an earlier one used, and they leave nothing in the
# kernel half, in cgroupfs or among processes; of their directories little more than the newest thousand stay (cleaned up past 64 more).
# watchdog: 120
. "$(dirname "$0")/../lib/lib.sh"
need_root

maps() { find "$SBX_RUN_DIR/bpf" /sys/fs/bpf/sbx \( -name tasks -o -name sandboxes \) 2>/dev/null; }

"$SBXCTL" run -p none -- true || fail "the first run"
[ -n "$(maps)" ] || fail "no pinned maps found below $SBX_RUN_DIR/bpf or /sys/fs/bpf/sbx"
mapfile -t pinned < <(maps)
before=$("$AIDS/rows" "${pinned[@]}")

seq 1020 | xargs -P 8 -I{} sh -c '"$SBXCTL" run -p none -- true || echo "run {} ended with $?"' >"$T/out" 2>"$T/err"
assert_eq "$(cat "$T/out" "$T/err")" "" "what went wrong"
assert_eq "$("$AIDS/rows" "${pinned[@]}")" "$before" "rows of the kernel half"
assert_le "$(find "$SBX_RUN_DIR" -mindepth 1 -maxdepth 1 -type d -not -name bpf | wc -l)" 1072 "run directories kept"

# A fresh group: what the last run used is far from the sum of all.
sbx_run -- true
assert_le "$(result '.usage.cpu_user_ns + .usage.cpu_system_ns')" 200000000 "CPU time of true, ns"
assert_result .tree.processes 1
