#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `plan` says what a run would enforce, as `run` then records it, and makes nothing.
. "$(dirname "$0")/../lib/lib.sh"
need_root

options=(-p none -m 64M -t 5s --pids 50)
before=$(find /sys/fs/cgroup -name 'sbx-*' 2>/dev/null | wc -l)
capture "$SBXCTL" plan --json "${options[@]}" -- sh -c "touch '$T/ran'"
assert_eq "$rc" 0 "plan"
cp "$T/out" "$T/plan.json"
assert "the command did not run" test ! -e "$T/ran"
assert_eq "$(find "$SBX_RUN_DIR" -maxdepth 1 -name '??????????' 2>/dev/null | wc -l)" 0 "directories made"
assert_le "$(find /sys/fs/cgroup -name 'sbx-*' 2>/dev/null | wc -l)" "$before" "groups made"

sbx_run -m 64M -t 5s --pids 50 -- sh -c "touch '$T/ran'"
assert_eq "$(jq -cS '.limits | map_values({value, origin})' "$T/plan.json")" "$(result '.limits | map_values({value, origin})' | jq -cS .)" "limits as planned"
clauses='[.tier.clauses[] | {capability, mechanism, enforced}]'
assert_eq "$(jq -cS "$clauses" "$T/plan.json")" "$(result "$clauses" | jq -cS .)" "clauses as planned"
assert_eq "$(jq -r .spec_digest "$T/plan.json")" "$(result .spec_digest)" "digest as planned"

capture "$SBXCTL" plan "${options[@]}" -- true
assert_match "$out" "tier: tracking: "
assert_match "$out" "memory +64 MiB +said"
capture "$SBXCTL" plan -p none --memory 0 -- true
assert_eq "$rc" 2 "plan of nonsense"
assert_match "$err" "memory"
