#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 10, 65: each limit's breach names the limit, what was configured and what was met, in the record and in the
# one line on stderr, and is never told as a crash.
. "$(dirname "$0")/../lib/lib.sh"

breach() { # KIND CONFIGURED UNIT TEXT STATUS OPTIONS -- COMMAND
	local kind=$1 configured=$2 unit=$3 text=$4 status=$5
	shift 5
	sbx_run "$@"
	assert_eq "$rc" "$status" "status over $kind"
	assert_eq "$(result '.limit | [.kind, .configured, .unit] | @json')" "[\"$kind\",$configured,\"$unit\"]" "limit"
	assert_ge "$(result .limit.actual)" 1 "what was met, of $kind"
	assert_eq "$(result .outcome)" limit_exceeded "outcome over $kind"
	assert_eq "$(result .diagnostic)" "$kind limit exceeded ($text)" "diagnostic of $kind"
	assert_one_line "$(grep ^sbxctl "$T/err")" "^sbxctl: $kind limit exceeded \\($text\\) \\(run [a-z2-7]{10}, [0-9]+ killed\\)\$" \
		"the line of $kind"
	assert_no_match "$(tr A-Z a-z <"$T/err")$(tr A-Z a-z <"$T/result.json")" 'crash|internal_error' "the words over $kind"
}
breach wall 150000000 ns '150 ms' 124 -t 150ms -- sleep 1000
breach idle 150000000 ns '150 ms' 137 --idle-timeout 150ms -- sleep 1000
breach cpu_time 100000000 ns '100 ms' 137 --cpu-time 100ms -- "$AIDS/spin" 1 0
breach memory 33554432 bytes '32 MiB' 137 -m 32M -- "$AIDS/hog" heap 100000000
breach output 1000 bytes '1000 B' 137 --max-output 1000 -- sh -c 'head -c 2000 /dev/zero; sleep 1000'
breach execs 5 count '5' 137 --max-execs 5 -- sh -c 'while :; do /bin/true; done'
breach depth 3 count '3' 137 --max-depth 3 -- sh -c '(:;(:;(:;(sleep 1000;:);:);:);:);:'

# Quiet is quiet; a good end has nothing to say.
sbx_run -q -t 150ms -- sleep 1000
assert_eq "$rc $err" "124 " "words under -q"
sbx_run -t 20 -m 64M --max-output 1K -- echo fine
assert_eq "$rc $err" "0 " "words at a good end"

# Bounded, whatever is in it (contract 11): a cap smaller than the sentence cuts the sentence.
sbx_run --max-output 10 -- sh -c 'head -c 2000 /dev/zero; sleep 1000'
assert_le "$(result '.diagnostic | utf8bytelength')" 10 "bytes of a diagnostic under a cap of 10"
