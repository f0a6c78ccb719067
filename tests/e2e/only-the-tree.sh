#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
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

# Who was put into the run's own group is not of the tree: it lives, and the group goes all the same: at a deadline, after
# the command's own end, and when the keeper is killed. One of them is a process of another run.
group_of() { # NAME: its directory, once it is up
	wait_until 5 eval '[ -n "$("$SBXCTL" inspect '"$1"' 2>/dev/null | jq -r ".status.root_pid // empty")" ]'
	"$SBXCTL" inspect "$1" | jq -r .status.cgroup
}
"$SBXCTL" run -p none -d --name host$$ -- sleep $cookie >/dev/null
guest=$("$SBXCTL" inspect host$$ | jq -r .status.root_pid)
invade() { # NAME: puts two strangers into the group, one into a group below it
	local group
	group=$(group_of "$1")
	mkdir "$group/below"
	echo $other >"$group/below/cgroup.procs"
	echo "$guest" >"$group/cgroup.procs"
}
spared() { # WHAT ID
	assert "a stranger in the group lives: $1" alive $other
	assert "another run's process lives: $1" alive "$guest"
	assert_eq "$(find /sys/fs/cgroup -type d -name "sbx-$2")" "" "the group: $1"
}
invade at-deadline &
sbx_run -t 0.7 -k none --name at-deadline -- sh -c 'setsid sleep 1000 & sleep 1000'
wait $!
assert_eq "$rc $(result '[.tree.survivors, .tree.killed, .tree.cgroup_escapes] | @json')" '124 [0,3,0]' "deadline"
spared "deadline" "$(result .id)"
invade by-itself &
sbx_run --name by-itself -- sh -c 'setsid sleep 1000 & sleep 0.7; exit 3'
wait $!
assert_eq "$rc $(result '[.tree.survivors, .tree.killed] | @json')" '3 [0,1]' "its own end"
spared "its own end" "$(result .id)"

# Who comes back as often as it is put out, for as long as there is a group: also after the kill has begun, when the
# group was looked at already. It comes into v1 groups, too.
come_back() { # NAME
	local group dir
	group=$(group_of "$1")
	while [ -d "$group" ]; do
		for dir in "$group" $(find /sys/fs/cgroup -type d -name "${group##*/}" ! -path "$group"); do
			echo $other >"$dir/cgroup.procs"
		done
		sleep 0.02
	done 2>/dev/null
}
come_back stubborn &
sbx_run -m 256M --pids 100 -t 0.7 -k none --name stubborn -- "$AIDS/shapes" "$cookie" stay
assert_eq "$rc $(result '[.tree.survivors, .killed_by] | @json')" '124 [0,"wall"]' "a stranger that comes back"
wait_until 5 eval '! find /sys/fs/cgroup -type d -name "sbx-$(result .id)" | grep -q .' || "$SBXCTL" ps >/dev/null
wait $!
spared "it comes back" "$(result .id)"
for try in 1 2 3 4 5; do
	name=often$try
	come_back $name &
	sbx_run -m 256M --name $name -- sh -c 'setsid sleep 1000 & sleep 0.3; exit 3'
	assert_eq "$rc" 3 "its own end, with a stranger that comes back"
	wait_until 5 eval '! find /sys/fs/cgroup -type d -name "sbx-$(result .id)" | grep -q .' || "$SBXCTL" ps >/dev/null
	wait $!
	spared "it comes back at its own end" "$(result .id)"
done
id=$("$SBXCTL" run -p none -d --name by-force -- sleep 1000)
invade by-force
kill -KILL "$("$SBXCTL" inspect by-force | jq -r .status.keeper_pid)"
wait_until 5 eval '[ "$("$SBXCTL" ps --json | jq -r ".[].name")" = host'$$' ]'
spared "the keeper's death" "$id"
"$SBXCTL" kill host$$
assert "its own run ends it" none_with "$cookie"
kill $other
