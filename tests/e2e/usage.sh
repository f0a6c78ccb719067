#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 67: a known load is reported within tolerance; what this host cannot measure is null, never 0.
. "$(dirname "$0")/../lib/lib.sh"

sbx_run -m 512M --pids 100 -- sh -c "'$AIDS/spin' 1 200; '$AIDS/hog' heap 50000000; '$AIDS/storm' bomb 10"
assert_eq "$rc" 0 "status"
cpu=$(result '(.usage.cpu_user_ns + .usage.cpu_system_ns) / 1000000')
assert_ge "$cpu" 195 "milliseconds of CPU"
assert_le "$cpu" $((200 + $(slow_ms 300))) "milliseconds of CPU"
assert_ge "$(result .usage.memory_peak_bytes)" 50000000 "bytes of memory at the peak"
assert_le "$(result .usage.memory_peak_bytes)" 90000000 "bytes of memory at the peak"
assert_eq "$(result .tree.processes)" 14 "processes"
assert_ge "$(result .tree.peak)" 12 "processes at once"
tasks=$(result .usage.tasks_peak)
[ "$tasks" = null ] || assert_ge "$tasks" 12 "tasks at once"
assert_ge "$(result .times.wall_ns)" 200000000 "nanoseconds in all"

sbx_run -- true
assert_eq "$(result '[.usage[] | select(. == 0)] | length as $zeros | if $zeros > 2 then $zeros else "few" end')" few \
	"zeros in the usage of true, where at most user or system time and what it read may be one"
assert_no_match "$(result '.usage.memory_peak_bytes')" '^0$' "peak memory of true"
