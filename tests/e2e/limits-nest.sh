#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 20, 56: what a run asks for never lifts the limits that already enclose it.
. "$(dirname "$0")/../lib/lib.sh"

sbx_run -e SBX_RUN_DIR -m 64M -t 60 -- "$SBXCTL" run -p none -m 1G -- "$AIDS/hog" heap 200000000
assert_eq "$(grep -c ALLOCATED "$T/out")" 0 "marker past the enclosing memory cap"
assert_eq "$rc $(result .killed_by)" "137 memory" "memory"

sbx_run -e SBX_RUN_DIR --pids 30 -t 60 -- "$SBXCTL" run -p none --pids 1000 -- "$AIDS/storm" bomb 100
assert_match "$out" '^[0-9]+ Resource' "forks past the enclosing cap"
assert_le "${out%% *}" 30 "forks under the enclosing cap"

begin=$(date +%s%N)
sbx_run -e SBX_RUN_DIR -t 0.5 -k 0.2 -- "$SBXCTL" run -p none -t 30 --result "$T/inner.json" -- sh -c 'trap "" TERM; sleep 1000; sleep 1000'
assert_eq "$rc $(result .killed_by)" "124 wall" "the outer deadline"
assert_le $((($(date +%s%N) - begin) / 1000000)) "$(slow_ms 2500)" "milliseconds of an inner deadline of 30 s"
assert_result .tree.survivors 0

# The inner limit is its own as well.
sbx_run -e SBX_RUN_DIR -m 512M -t 60 -- "$SBXCTL" run -p none -m 64M -- "$AIDS/hog" heap 200000000
assert_eq "$rc $(result '[.outcome, .exit_code, .killed_by] | @json')" '137 ["exited",137,null]' "an inner breach"
"$SBXCTL" ps >/dev/null # sweeps up after the inner keepers
