#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# DESIGN 3: --cgroup-parent puts the run below a group of the caller's choice, and its limits enclose it.
. "$(dirname "$0")/../lib/lib.sh"

need_root
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
here=$(sed -n 's/^0:://p' /proc/self/cgroup)
parent=${here%/}/sbx-parent-$$
mkdir "$unified$parent" || skip "needs a group below its own: '$unified$parent' is refused"
cleanup() { rmdir "$unified$parent"; }

sbx_run --cgroup-parent "$parent" -- sed -n 's/^0:://p' /proc/self/cgroup
assert_eq "$rc" 0 "status: $err"
assert_eq "$out" "$parent/sbx-$(result .id)" "the group inside"
assert_eq "$(find "$unified$parent" -mindepth 1 -type d)" "" "groups left below it"

sbx_run --cgroup-parent "$parent/nowhere" -- touch "$T/ran"
assert_eq "$rc" 125 "status below a group that is not there"
assert_one_line "$err" 'nowhere' "its line"
assert "nothing ran" test ! -e "$T/ran"
