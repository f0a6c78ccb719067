#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 300
# With systemd as PID 1 the tests of groups pass by the driver systemd-scope, and leave no unit behind.
. "$(dirname "$0")/../../lib/lib.sh"

[ -d /run/systemd/system ] || fail "systemd is not PID 1"

ran=0
for program in "$BUILD"/tests/kernel_cgroup*; do
	[ -x "$program" ] || continue
	"$program" > "$T/out" 2>&1 || {
		grep -v -e ' OK ]' -e ' RUN ' "$T/out"
		fail "${program##*/}"
	}
	ran=$((ran + 1))
done
[ "$ran" != 0 ] || skip "no kernel_cgroup programs in the build"
assert_eq "$(systemctl list-units --all --no-legend 'sbx-test-*' 'sbx-probe-*')" "" "units that were left"
