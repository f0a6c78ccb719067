#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 108: identity is an incarnation: after its keeper is dead, a group of the same name that somebody else has made
# meanwhile is not a run's; who lives in it is not killed.
. "$(dirname "$0")/../lib/lib.sh"

need_root
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
cleanup() {
	kill -KILL $stranger 2>/dev/null
	wait $stranger 2>/dev/null
	rmdir "$group" 2>/dev/null
}

cookie=$(unique_seconds)
"$SBXCTL" run -p none -- sh -c "echo up >'$T/up'; exec sleep $cookie" &
keeper=$!
assert "the run starts" wait_until 10 test -e "$T/up"
id=$(basename "$(ls -td "$SBX_RUN_DIR"/??????????/ | head -n 1)")
group=$(find "$unified" -type d -name "sbx-$id" | head -n 1)
kill -KILL $keeper
wait $keeper 2>/dev/null
assert "the tree dies with its keeper" wait_until 5 none_with "$cookie"
removed() { rmdir "$group"; }
assert "its group can be removed" wait_until 5 removed
mkdir "$group"
sleep 1000 &
stranger=$!
echo $stranger >"$group/cgroup.procs" || fail "no stranger in '$group'"

"$SBXCTL" ps >/dev/null
sleep 0.2
assert "the stranger lives" alive $stranger
assert "its group is there" test -d "$group"
