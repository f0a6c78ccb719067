#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# Contracts 57, 53: the memory cap is the whole tree's, whatever kind of memory, however many processes, and behind
# whatever intervening programs; the end is attributed to it.
. "$(dirname "$0")/../lib/lib.sh"

hog=$AIDS/hog
cap=67108864

# Positive controls: the same act below the cap, and without one.
sbx_run -m 64M -- "$hog" heap 20000000
assert_eq "$rc $out" "0 ALLOCATED-PAST-CAP" "20 MB under a cap of 64 MiB"
assert_eq "$(result '[.limits.memory.value, .limits.memory.still_in_force] | @json')" "[$cap,true]" "the limit"
sbx_run -- "$hog" heap 200000000
assert_eq "$rc $out" "0 ALLOCATED-PAST-CAP" "200 MB without a cap"

killed() { # WHAT COMMAND...
	local what=$1
	shift
	sbx_run -m 64M -t 60 -- "$@"
	assert_eq "$(grep -c ALLOCATED-PAST-CAP "$T/out")" 0 "marker past the cap: $what"
	assert_eq "$rc" 137 "status: $what"
	assert_eq "$(result '[.outcome, .killed_by, .limit.kind, .limit.configured, .limit.unit] | @json')" \
		"[\"limit_exceeded\",\"memory\",\"memory\",$cap,\"bytes\"]" "$what"
	assert_result .tree.survivors 0
}
killed "heap" "$hog" heap 200000000
assert_ge "$(result .limit.actual)" 50000000 "bytes at the breach"
assert_le "$(result .limit.actual)" 70000000 "bytes at the breach"
killed "memfd" "$hog" memfd 200000000
killed "shared memory" "$hog" shm 200000000
killed "eight children of 24 MB" "$hog" heap 24000000 8

killed "behind env and sh" env sh -c "exec '$hog' heap 200000000"
killed "behind setsid" setsid -w "$hog" heap 200000000
killed "behind nohup and a background shell" sh -c "nohup sh -c '$hog heap 200000000' & wait; sleep 1000"
killed "in namespaces of its own" unshare -r -p -f -m -C "$hog" heap 200000000

# Less than a process needs to get started is a limit that is at fault, by name.
sbx_run -m 1 -- true
assert_eq "$rc" 125 "status of -m 1"
assert_one_line "$err" '^sbxctl: --memory 1 B: too little' "its line"
