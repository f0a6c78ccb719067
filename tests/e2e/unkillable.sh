#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 16, 40: what cannot be killed (here: frozen by cgroup v1, out of our reach) is named as a survivor and delays the call by
# the kill budget, no more, in a pid namespace too; once it has died its group goes with the next command.
. "$(dirname "$0")/../lib/lib.sh"
need_root

freezer=$(awk '$3 == "cgroup" && $4 ~ /(^|,)freezer(,|$)/ { print $2; exit }' /proc/mounts)
[ -n "$freezer" ] || skip "needs the freezer of cgroup v1"
ice=$freezer/sbx-test-$$
cleanup() {
	echo THAWED >"$ice/freezer.state"
	wait_until 5 rmdir "$ice"
} 2>/dev/null
mkdir "$ice" || fail "make a group in $freezer"

naps=$(unique_seconds)
cat >"$T/hide" <<EOF
sh -c 'echo 0 >$ice/cgroup.procs; exec sleep $naps' &
sleep 0.2
echo FROZEN >$ice/freezer.state
sleep 1000
EOF
group() { find /sys/fs/cgroup -type d -name "sbx-$1"; }

frozen() { # OPTIONS
	sbx_run -t 0.7 -k 0.1 "$@" -- sh "$T/hide"
	assert_eq "$rc" 124 "status ($*)"
	assert_le "$took_ms" "$(slow_ms 7000)" "milliseconds ($*)"
	assert_result .tree.survivors 1
	assert_eq "$(result .diagnostic)" "wall limit exceeded (700 ms); 1 processes did not die" "diagnostic ($*)"
	id=$(result .id)
	assert "its group is there as long as it is" test -n "$(group "$id")"
	echo THAWED >"$ice/freezer.state"
	assert "thawed it dies" wait_until 5 none_with "$naps"
	"$SBXCTL" ps >/dev/null
	assert_eq "$(group "$id")" "" "its group ($*)"
}
frozen
frozen --pid-ns on
