#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 180
# Contracts 95, 170: every promise is breached on this host, nothing gives way, and what cannot be tried is in the baseline
# of the tier. Builds that are porous on purpose turn the rows red that they should, and leave nothing behind either.
. "$(dirname "$0")/../lib/lib.sh"

need_root
capture timeout 120 "$SBXCTL" conformance --json
rows=$out
names() { jq -r --arg v "$1" '.rows[] | select(.verdict == $v) | .name' <<<"$rows"; } # VERDICT
tier=$(jq -r .tier <<<"$rows")
baseline=$(grep -v '^#' "$LIB_ROOT/tests/conformance/baseline-$tier")

assert_eq "$(names breached)" "" "breached"
assert_eq "$(names not_attempted)" "" "not attempted"
assert_eq "$(names cannot_attempt | grep -vxF -e "$baseline" -e '')" "" \
	"not in the baseline of tier $tier: $(jq -c '[.rows[] | select(.verdict == "cannot_attempt")]' <<<"$rows")"
assert_eq "$rc" 0 "status"
assert_eq "$(jq -c '[.census.ran, .census.held + .census.breached, (.rows | length)]' <<<"$rows")" \
	"$(jq -c '[.census.held, .census.ran, .census.held + .census.breached + .census.cannot_attempt + .census.not_attempted]' <<<"$rows")" "census"
[ -z "$(ls -d /run/sbx-conformance.* 2>/dev/null)" ] || fail "a scene is left: $(ls -d /run/sbx-conformance.*)"

capture "$SBXCTL" conformance --group kill
assert_eq "$rc" 0 "one group"
assert_match "$out" "^CONTRACT +GROUP +VERDICT" "the table"
assert_match "$out" "20 +kill +held +a command outlives its deadline" "a row by its contract"
assert_match "$out" "tier [AB]: 2 held, 0 breached" "the census"
capture "$SBXCTL" conformance --group none
assert_eq "$rc" 2 "a group that is none"

# Told to end in the middle, it still takes its scene away, and does not say that the rest held.
"$SBXCTL" conformance --json >"$T/ended" 2>/dev/null &
told=$!
has_scene() { ls -d /run/sbx-conformance.* >/dev/null 2>&1; }
assert "the scene is made" wait_until 20 has_scene
kill -TERM $told
wait $told
assert_eq "$?" 1 "status when told to end"
assert_ge "$(jq .census.not_attempted "$T/ended")" 1 "rows that were not attempted then"
assert "no scene is left" eval '! has_scene'

# Nothing of a porous build is in the one that people get.
if grep -qa porous_ "$SBXCTL"; then fail "a release holds the switches of porous builds"; fi
[ -x "$LIB_ROOT/build/faults/sbxctl" ] || exit 0
porous() { # SWITCH GROUP: the rows that are breached
	SBX_FAULT=$1:drop timeout 60 "$LIB_ROOT/build/faults/sbxctl" conformance --group "$2" --json >"$T/porous"
	[ $? = 1 ] || fail "the status of $1"
	jq -r '.rows[] | select(.verdict == "breached") | .name' "$T/porous"
}
assert_eq "$(porous porous_apart isolation)" "shared memory of others is read" "without namespaces"
assert_match "$(porous porous_guard enforcement)" "a user namespace is made" "without a filter"
assert_match "$(porous porous_caps identity)" "a capability is there" "with capabilities"
