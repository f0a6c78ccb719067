#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 36: no room for the spill is a reason in the result, not a crash: captured output would be lost, so the tree
# ends; output that was passed on is not lost, so the run goes on.
. "$(dirname "$0")/../lib/lib.sh"

need_root
cat >"$T/inside" <<-'END'
	mkdir -p "$T/small"
	mount -t tmpfs -o size=1M,mode=711 tmpfs "$T/small" || exit 70
	SBX_RUN_DIR=$T/small "$SBXCTL" "$@"
	status=$?
	cp "$T"/small/*/result.json "$T/stored.json"
	SBX_RUN_DIR=$T/small "$SBXCTL" unload
	exit $status
END
export T

capture unshare -m --propagation private bash "$T/inside" run -p none --json --spill-at 100K -- \
	sh -c 'head -c 8000000 /dev/zero; exec sleep 1000'
[ "$rc" != 70 ] || skip "needs a tmpfs in a private mount namespace: mount is refused"
cp "$T/out" "$T/result.json"
valid_result
assert_eq "$rc" 137 "status of a captured run whose spill has no room"
assert_eq "$(result '[.outcome, .killed_by, .limit.kind, .limit.configured] | @json')" \
	'["limit_exceeded","output","output",null]' "captured"
assert_match "$(result .diagnostic)" 'spill: No space left on device' "its diagnostic"
assert_eq "$(result '.output.stdout.truncated')" true "truncated"
assert_ge "$(result .output.stdout.bytes)" 900000 "bytes that were counted"
assert_eq "$(jq -S .outcome "$T/stored.json")" '"limit_exceeded"' "the result on the full disk"
assert_result .tree.survivors 0

keep_result
capture unshare -m --propagation private bash "$T/inside" run -p none --result "$T/result.json" --spill-at 100K -- \
	sh -c 'head -c 8000000 /dev/zero; exit 3'
assert_eq "$rc $(stat -c %s "$T/out")" "3 8000000" "status and bytes of a run that is passed through"
assert_eq "$(result '[.outcome, .output.stdout.bytes, .output.stdout.truncated] | @json')" '["exited",8000000,true]' \
	"passed through"
assert_match "$(result .diagnostic)" 'spill: No space left on device' "its diagnostic"
