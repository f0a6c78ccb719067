#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 16, 21, 24: a run returns at its deadline whatever the tree does, with what it had written and with who
# waited for what; nothing of it is left.
. "$(dirname "$0")/../lib/lib.sh"

cookie=$(unique_seconds)
limit=$(slow_ms 1500)
until=$(slow_ms 200) # the deadline, in milliseconds: the shell has started by then
mkfifo "$T/fifo"

sbx_run -- true # loads the kernel half, which takes its time once
sleepers_gone() { ! anybody_with "$cookie"; }

ends() { # NAME SCRIPT [OPTION...]
	local name=$1 script=$2
	shift 2
	sbx_run -t ${until}ms -k 200ms "$@" -- bash -c "echo before; $script"
	assert_eq "$rc" 124 "status: $name"
	assert_eq "$out" before "what was written before the end: $name"
	assert_result .outcome limit_exceeded
	assert_result .killed_by wall
	assert_eq "$(result '.limit | "\(.kind) \(.configured) \(.unit) \(.actual >= .configured)"')" \
		"wall ${until}000000 ns true" "limit: $name"
	assert_result .tree.survivors 0
	assert_result .output.stdout.text before
	assert_ge "$(result '.autopsy | length')" 1 "rows of the autopsy: $name"
	assert_le "$took_ms" "$limit" "milliseconds: $name"
	assert "nothing is left: $name" wait_until 1 sleepers_gone
}

waited() { # COMM REGEX; on a slow machine the autopsy's few milliseconds do not do for everybody
	local what
	what=$(result "[.autopsy[] | select(.comm == \"$1\") | .waits_for] | join(\",\")")
	[ -z "$what" ] && [ "$(result '(.autopsy | length) < .tree.killed')" = true ] ||
		assert_match "$what" "$2" "what $1 waited for"
}

ends "a sleeper" "exec sleep $cookie"
waited sleep '^sleep'
ends "a busy loop" 'exec awk "BEGIN { while (1) x++ }"'
assert_eq "$(result '[.autopsy[] | select(.comm | test("awk"))] | .[0].state')" R "the busy one's state"
ends "TERM, INT and HUP ignored" "trap '' TERM INT HUP; sleep $cookie & wait; sleep $cookie"
ends "stopped by itself" "kill -STOP \$\$; sleep $cookie"
ends "a fifo that nobody writes" "cat '$T/fifo'"
waited cat '^open'
ends "a fifo behind a pipeline" "cat '$T/fifo' | sort | uniq"
waited sort '^read fd 0 pipe:'
ends "children in every shape" "exec '$AIDS/shapes' $cookie stay >/dev/null"
ends "a grandchild that holds stdout" "setsid bash -c \"trap '' TERM; sleep $cookie; sleep $cookie\" & wait"
waited bash '^wait for child'
ends "a fork bomb" "exec '$AIDS/storm' hop 20" --pids 100
ends "read() from a pipe that never ends" "sleep $cookie | exec cat"
waited cat '^read fd 0 pipe:'
