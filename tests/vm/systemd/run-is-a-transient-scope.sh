#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 60
# With systemd as PID 1 a run is a transient, delegated scope of its own, and the scope is gone after.
. "$(dirname "$0")/../../lib/lib.sh"

[ -d /run/systemd/system ] || fail "systemd is not PID 1"

property() { systemctl show --property "$1" --value "$unit"; }
scope_gone() { [ "$(property LoadState)" = not-found ] || [ "$(property ActiveState)" = inactive ]; }

"$SBXCTL" run -p none -m 64M --pids 20 -- \
	sh -c "echo \$\$ > '$T/pid'; until [ -e '$T/go' ]; do sleep 0.1; done" &
run=$!
assert "the run starts" wait_until 30 test -s "$T/pid"
unit=$(sed -n 's/^0:://p' "/proc/$(cat "$T/pid")/cgroup" | grep -oE '[^/]+\.scope' | tail -n 1)
assert_ne "$unit" "" "a scope in the path of the group"
assert_eq "$(property Transient)" yes "Transient of $unit"
assert_eq "$(property Delegate)" yes "Delegate of $unit"
assert_eq "$(property ActiveState)" active "ActiveState of $unit"

touch "$T/go"
wait "$run" || fail "the run ended with $?"
assert "the scope is gone" wait_until 10 scope_gone
