#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 23: a 30 ms deadline stays of that order with every processor busy, 20 times, and the record says by how
# much it was missed.
. "$(dirname "$0")/../lib/lib.sh"

cleanup() { kill "${busy[@]}" 2>/dev/null; }

sbx_run -- true
busy=()
for ((i = $(nproc); i > 0; i--)); do
	"$AIDS/spin" 1 60000 &
	busy+=($!)
done

limit=$(slow_ms 270)
for ((i = 0; i < 20; i++)); do
	sbx_run -t 30ms -- sleep 1000
	assert_eq "$rc" 124 "status of run $i"
	assert_eq "$(result '.times | "\(.deadline_ns) \(.wall_ns - .deadline_ns == .overrun_ns)"')" "30000000 true" \
		"deadline, and overrun as the difference"
	over=$(result '.times.overrun_ns / 1000000')
	assert_le "$over" "$limit" "milliseconds of overrun in run $i"
	overs+="$over "
done
median=$(tr ' ' '\n' <<<"$overs" | sort -n | sed -n 11p)
echo "overruns in ms: $overs"
assert_le "$median" "$(slow_ms 30)" "median overrun in milliseconds"

sbx_run -- true
assert_eq "$(result '.times | [.deadline_ns, .overrun_ns] | @json')" '[null,null]' "without a deadline"
