#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 100, 110, 101: exactly the tree dies: each descendant in every shape, counted; nobody who merely shares
# session, process group, parent, name or group of controls with it.
. "$(dirname "$0")/../lib/lib.sh"


# Bystanders: siblings of the keeper, in its session and process group, running the same program with the same words.
cookie=$(unique_seconds)
"$AIDS/shapes" "$cookie" rest &
sibling=$!
setsid sleep 1000 &
other=$!
sbx_run -- "$AIDS/shapes" "$cookie"
assert_eq "$rc $out" "0 14 shapes" "status and output"
assert "a sibling in the same session and process group lives" alive $sibling
assert "a stranger lives" alive $other
kill -KILL $sibling
wait $sibling 2>/dev/null
anybody_with "$cookie" && fail "alive: $(ps -ef | grep "$cookie" | grep -v grep)"

# 14 shapes are the root, 14 children, and 4 that three of them and the subreaper made; all but the root and the
# intermediate ones that ended at once were killed.
assert_result .tree.survivors 0
processes=$(result .tree.processes)
assert_ge "$processes" 19 "processes"
assert_eq "$(result '[.tree.records[] | select(.signal == 9)] | length')" "$(result .tree.killed)" \
	"records of SIGKILLed processes, and the count"
assert_eq "$(result '.tree.records | length')" "$processes" "records, and the count of processes"

# Known counts: seven sleepers, two of them in sessions of their own.
sbx_run -- sh -c 'for i in 1 2 3 4 5; do sleep 1000 & done; setsid sleep 1000 & setsid sleep 1000 & sleep 0.2; exit 0'
assert_eq "$(result '[.tree.processes, .tree.killed, .tree.survivors] | @json')" '[9,7,0]' "processes, killed, survivors"

# Who leaves the group is still of the tree: it dies, and it is told.
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
sbx_run -- sh -c "(echo 0 >'$root/cgroup.procs' && exec setsid sleep $cookie) & sleep 0.3; exit 0"
assert "who left the group is dead" none_with "$cookie"
assert_eq "$(result '[.tree.survivors, .tree.cgroup_escapes] | @json')" '[0,1]' "survivors and escapes"
kill $other
