#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 59: the CPU-time budget is the tree's: threads and processes count together, waiting does not.
. "$(dirname "$0")/../lib/lib.sh"

sbx_run --cpu-time 500ms -t 60 -- sh -c "'$AIDS/spin' 2 0 & '$AIDS/spin' 2 0 & wait"
assert_eq "$rc" 137 "status"
assert_eq "$(result '[.outcome, .killed_by, .limit.kind, .limit.configured, .limit.unit] | @json')" \
	'["limit_exceeded","cpu_time","cpu_time",500000000,"ns"]' "two processes of two threads"
assert_ge "$(result .limit.actual)" 500000000 "CPU time at the breach"
assert_le "$(result '.usage.cpu_user_ns + .usage.cpu_system_ns')" 1000000000 "CPU time in all"

# What a child used counts after it is gone.
sbx_run --cpu-time 500ms -t 60 -- sh -c "while :; do '$AIDS/spin' 1 100; done"
assert_eq "$(result .killed_by)" cpu_time "many short children"

sbx_run --cpu-time 500ms -- sh -c "'$AIDS/spin' 1 200; sleep 0.8"
assert_eq "$rc $(result .outcome)" "0 exited" "less CPU time than the budget, more wall time"
