#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `doctor` tries what it reports (70 to 73), names reason and remedy, and leaves nothing behind.
. "$(dirname "$0")/../lib/lib.sh"
need_root

names=$(jq -r '.["$defs"].capability.enum[]' "$LIB_ROOT/include/sbx/result.schema.json")
capture "$SBXCTL" doctor --json
assert_eq "$rc" 0 "doctor"
cp "$T/out" "$T/doctor.json"
row() { jq -r --arg c "$1" ".capabilities[] | select(.capability == \$c) | $2" "$T/doctor.json"; }
assert_eq "$(jq -r '.capabilities[].capability' "$T/doctor.json")" "$names" "every capability, once"
for c in process_tracking tree_kill kernel_kill time_budget output_capture memory_cap cpu_cap pids_cap disk_cap filesystem_confinement network_restriction attach; do
	assert_eq "$(row $c '"\(.attempted) \(.enforced)"')" "true true" "$c ($(row $c .detail))"
done

# The network by namespace and by hook, as a run says it.
assert_match "$(row network_restriction .mechanism)" "hooks by label"
assert_match "$(row network_restriction .detail)" "a connect that no rule admits: refused"

# Enforced only what was attempted; what this build cannot do says so; what this host cannot has a remedy.
assert_eq "$(jq '[.capabilities[] | select(.enforced and (.attempted | not))] | length' "$T/doctor.json")" 0 "enforced but not attempted"
assert_eq "$(jq '[.capabilities[] | select((.attempted or .enforced | not) and .remedy == null and (.detail | test("this build") | not))] | length' "$T/doctor.json")" 0 "no remedy"
if [ "$(row lsm_enforcement .attempted)" = false ]; then
	assert_eq "$(jq -r .tier "$T/doctor.json")" B "tier without BPF LSM"
	assert_ne "$(row lsm_enforcement .detail)" "" "why not"
	capture "$SBXCTL" doctor --require A
	assert_eq "$rc" 1 "--require A"
	assert_match "$err" "A: not available"
else
	assert_eq "$(jq -r .tier "$T/doctor.json")" A "tier with BPF LSM"
fi

capture "$SBXCTL" doctor --require B,memory_cap
assert_eq "$rc" 0 "--require what is there"
capture "$SBXCTL" doctor --require memory_cap,flux_capacitor
assert_eq "$rc" 1 "--require of an unknown name"
assert_match "$err" "flux_capacitor: there is no such capability"
capture "$SBXCTL" doctor --require ''
assert_eq "$rc" 2 "--require of nothing"

# Without privilege everything that needs it is unavailable, with the remedy, and nothing fails.
capture setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs env "SBX_RUN_DIR=$T/nobody" "$SBXCTL" doctor --json
assert_eq "$rc" 0 "doctor without root"
cp "$T/out" "$T/doctor.json"
assert_eq "$(jq -r .tier "$T/doctor.json")" none "tier without root"
for c in process_tracking memory_cap disk_cap; do
	assert_eq "$(row $c .enforced)" false "$c without root"
	assert_match "$(row $c .remedy)" "root"
done
assert_eq "$(row output_capture .enforced)" true "pipes need nobody's leave"

capture "$SBXCTL" doctor
assert_match "$out" "^tier [AB]"
assert_no_match "$out" $'\033'
capture "$SBXCTL" doctor --color always
assert_match "$out" $'\033'

# On a terminal, and only there, it says what it is at.
script -qec "TERM=xterm '$SBXCTL' doctor >/dev/null" /dev/null </dev/null >"$T/typescript"
assert_match "$(cat "$T/typescript")" 'trying control groups' "progress on a terminal"
capture env TERM=xterm "$SBXCTL" doctor
assert_eq "$rc $err" "0 " "progress elsewhere"
