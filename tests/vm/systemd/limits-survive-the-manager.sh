#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# With systemd as PID 1 a limited run keeps its limits through daemon-reload and set-property: the
# manager empties subtree_control of groups that are not delegated, and limits vanish silently.
. "$(dirname "$0")/../../lib/lib.sh"

[ -d /run/systemd/system ] || fail "systemd is not PID 1"

# The smallest value of a limit file on the way from the process's group to the root.
effective() { # PID FILE
	local at value least=max
	at=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$1/cgroup")
	while [ "$at" != /sys/fs/cgroup ]; do
		value=$(cat "$at/$2" 2> /dev/null) || value=max
		if [ "$value" != max ] && { [ "$least" = max ] || [ "$value" -lt "$least" ]; }; then
			least=$value
		fi
		at=${at%/*}
	done
	echo "$least"
}

cpu_quota() { # PID: the scope or a group below it has half a processor
	local at
	at=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$1/cgroup")
	while [ "$at" != /sys/fs/cgroup ]; do
		awk '$1 != "max" { exit !($1 * 2 == $2) } { exit 1 }' "$at/cpu.max" 2> /dev/null && return
		at=${at%/*}
	done
	return 1
}

assert_limits() { # WHEN
	assert_eq "$(effective "$pid" memory.max)" $((64 << 20)) "memory.max $1"
	assert_eq "$(effective "$pid" pids.max)" 20 "pids.max $1"
	assert "half a processor $1" cpu_quota "$pid"
}

"$SBXCTL" run -p none -m 64M --pids 20 --cpus 0.5 --result "$T/result.json" -- \
	sh -c "echo \$\$ > '$T/pid'; until [ -e '$T/go' ]; do sleep 0.1; done
		python3 -c 'print(len(bytearray(200 << 20)))'" > "$T/out" 2> "$T/err" &
run=$!
assert "the run starts" wait_until 30 test -s "$T/pid"
pid=$(cat "$T/pid")
unit=$(sed -n 's/^0:://p' "/proc/$pid/cgroup" | grep -oE '[^/]+\.scope' | tail -n 1)
assert_limits "at the start"

assert "daemon-reload" systemctl daemon-reload
assert "set-property on the slice" systemctl set-property --runtime system.slice CPUWeight=200
assert "set-property on the scope" systemctl set-property --runtime "$unit" IOWeight=50
assert "daemon-reload again" systemctl daemon-reload
assert_limits "after daemon-reload and set-property"

touch "$T/go"
wait "$run"
assert_result .outcome limit_exceeded
assert_result .killed_by memory
assert_eq "$(result '[.limits[] | select(.still_in_force == false)] | length')" 0 "limits lost"
assert_ne "$(result .usage.memory_peak_bytes)" null "the peak of a group the manager removes when empty"
