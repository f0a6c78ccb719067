#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 167: what has no common parent is adopted together: all of a control group, orphans included, or all of a
# session. Beside it everything lives.
. "$(dirname "$0")/../lib/lib.sh"

need_root
cookie=$(unique_seconds)
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
here=$(sed -n 's/^0:://p' /proc/self/cgroup)
group=$unified${here%/}/sbx-attach-$$
mkdir -p "$group/inner" || skip "needs a group below its own: '$group' is refused"
cleanup() {
	local p
	for p in $(pids_with "$cookie"); do kill -KILL "$p"; done
	wait_until 5 rmdir "$group/inner" "$group" 2>/dev/null
}
left() { [ "$(pids_with "$cookie" | wc -l)" = "$1" ]; }
live() { "$SBXCTL" inspect "$id" | jq .status.tree.live; }

capture "$SBXCTL" attach -p none --cgroup "$group"
assert_eq "$rc$out" 1 "status of an empty group"
assert_one_line "$err" "'$group' has no process" "its line"
capture "$SBXCTL" attach -p none --cgroup "$T"
assert_one_line "$err" "'$T' is not a control group's directory" "a plain directory"
capture "$SBXCTL" attach -p none --cgroup /nowhere
assert_one_line "$err" "'/nowhere' is not a control group's directory" "no directory"
capture "$SBXCTL" attach -p none --cgroup "$group" 1000
assert_eq "$rc" 2 "status of a group and a process"
capture "$SBXCTL" attach -p none --cgroup "$unified"
assert_eq "$rc$out" 1 "status of a group that this command is in"

# ---- a group: two trees, an orphan, one in the group inside, one that came out of a member but left the group ----------
sh -c "echo 0 >'$group/cgroup.procs'; sleep $cookie & (setsid sleep $cookie &); sh -c 'echo 0 >$group/../cgroup.procs; exec sleep $cookie' & wait" &
first=$!
assert "it runs" wait_until 10 left 3
sh -c "echo 0 >'$group/inner/cgroup.procs'; exec sleep $cookie" &
sleep "$cookie" &
beside=$!
assert "all run" wait_until 10 left 5
assert "they are in the group" wait_until 10 grep -q . "$group/inner/cgroup.procs"
capture "$SBXCTL" attach -p none --cgroup "$group"
assert_eq "$rc" 0 "status: $err"
id=$out
assert_eq "$("$SBXCTL" inspect "$id" | jq -c '[.status.root_pid, .meta.result.attached.pid]')" "[$first,$first]" "the root is the eldest"
assert_eq "$(live)" 5 "processes"
"$SBXCTL" detach "$id"
assert "all live" left 5
id=$("$SBXCTL" attach -p none --cgroup "$group" 2>/dev/null)
assert "kill" "$SBXCTL" kill "$id"
assert "only what was beside it lives" wait_until 5 left 1
assert "beside it" alive "$beside"
kill -KILL "$beside"

# ---- a session, its orphans with it -----------------------------------------------------------------------------------
setsid sh -c "echo \$\$ >'$T/leader'; (sleep $cookie &); sleep $cookie & setsid sleep $cookie & wait" &
sleep "$cookie" &
assert "all run" wait_until 10 left 4
leader=$(cat "$T/leader")
id=$("$SBXCTL" attach -p none --session "$leader" 2>/dev/null)
assert_eq "$(live)" 4 "processes of the session, and a child that left it"
"$SBXCTL" kill "$id"
assert "only what was beside it lives" wait_until 5 left 1
capture "$SBXCTL" attach -p none --session "$(pids_with "$cookie")"
assert_eq "$rc$out" 1 "status of our own session"
assert_match "$err" 'started this command' "why"
