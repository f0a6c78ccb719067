#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 60
# With systemd as PID 1 two runs at once have scopes of their own: the end of one leaves the other.
. "$(dirname "$0")/../../lib/lib.sh"

[ -d /run/systemd/system ] || fail "systemd is not PID 1"

group_of() { sed -n 's/^0:://p' "/proc/$(cat "$T/pid.$1")/cgroup"; }

declare -A run
for name in one two; do
	"$SBXCTL" run -p none --pids 20 -- \
		sh -c "echo \$\$ > '$T/pid.$name'; until [ -e '$T/go.$name' ]; do sleep 0.1; done" &
	run[$name]=$!
done
for name in one two; do
	assert "run $name starts" wait_until 30 test -s "$T/pid.$name"
done
assert_ne "$(group_of one)" "$(group_of two)" "the group"

touch "$T/go.one"
wait "${run[one]}" || fail "run one ended with $?"
assert "run two lives on" alive "$(cat "$T/pid.two")"
touch "$T/go.two"
wait "${run[two]}" || fail "run two ended with $?"
