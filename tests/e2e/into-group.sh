#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 100: a child that is born into another group, without a file being opened there, is of the tree all the same;
# under a policy no root gets there (tier A), for the limits are the group's.
. "$(dirname "$0")/../lib/lib.sh"
need_root

group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/sbx-test-$$
mkdir "$group" || skip "no control group can be made here"
cleanup() { rmdir "$group"; }

sbx_run -- "$AIDS/storm" into "$group"
assert_eq "$rc $out" "0 in" "without a policy"
assert_eq "$(result '[.tree.killed, .tree.survivors, .tree.cgroup_escapes] | @json')" '[1,0,1]' "it is killed, and told"

sbx_run --deny /nonexistent-$$ --allow-reduced filesystem_deny_future -- "$AIDS/storm" into "$group"
case $(result '.tier.clauses[] | select(.capability == "lsm_enforcement") | .enforced') in
true) assert_eq "$rc $out" "1 Operation not permitted" "under a policy" ;;
*) assert_result .tree.survivors 0 ;;
esac
assert_eq "$(cat "$group/cgroup.procs")" "" "who is left in the group"
