#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 111: the end is polite first: the signal goes to the whole tree, what handles it has its grace, what
# ignores it is killed when the grace is over, and not before.
. "$(dirname "$0")/../lib/lib.sh"

slack=$(slow_ms 1000)
until=$(slow_ms 400) # the deadline, in milliseconds: handlers are installed by then

mkfifo "$T/never"
handled() { # OPTIONS: a root and a child that both clean up
	rm -f "$T"/cleaned.*
	# Waits by a read, not by sleep: what a shell forks has no handlers until it has become something else.
	sbx_run "$@" -- bash -c "
		bash -c 'trap \"touch $T/cleaned.child; exit 0\" TERM USR1; while :; do read -rt 0.01 <>$T/never; done' &
		trap 'wait; touch $T/cleaned.root; exit 0' TERM USR1
		while :; do read -rt 0.01 <>$T/never; done"
	assert_eq "$rc" 124 "status"
	assert "the root's handler ran to its end" test -e "$T/cleaned.root"
	assert "the child's handler ran to its end" test -e "$T/cleaned.child"
	assert_eq "$(result '[.tree.records[] | select(.comm == "bash" and .signal != null)] | length')" 0 \
		"shells that were killed although they handled the signal"
	assert_eq "$(result '[.outcome, .killed_by, .exit_code] | @json')" '["limit_exceeded","wall",0]' "result"
}

handled -t ${until}ms -k 20
assert_le "$took_ms" $((until + slack * 2)) "milliseconds: nobody waits for a grace that nobody needs"
handled -t ${until}ms -k 20 -s USR1

ignored() { # GRACE_MS OPTIONS
	local grace=$1
	shift
	sbx_run "$@" -- bash -c "trap '' TERM; while :; do sleep 0.01; done"
	assert_eq "$rc" 124 "status"
	assert_result .signal 9
	assert_ge "$(result '.times.wall_ns / 1000000')" $((until + grace)) "milliseconds before the kill"
	assert_le "$(result '.times.wall_ns / 1000000')" $((until + grace + slack)) "milliseconds until it was over"
}
ignored 500 -t ${until}ms -k 0.5
ignored 0 -t ${until}ms -k none

# A stopped process gets to see the signal, too.
sbx_run -t ${until}ms -k 20 -- bash -c "trap 'touch $T/woken; exit 0' TERM; kill -STOP \$\$; sleep 1000"
assert "a handler of a stopped process ran" test -e "$T/woken"
assert_le "$took_ms" $((until + slack * 2)) "milliseconds of a stopped process's end"
