#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 30, 31: stdout and stderr together never exceed --max-output: exactly the cap is fine, one byte more ends
# the tree, and what is returned agrees with the flag.
. "$(dirname "$0")/../lib/lib.sh"

cap=65536
both() { result '.output.stdout.bytes + .output.stderr.bytes'; }

sbx_run --max-output $cap -- head -c $cap /dev/zero
assert_eq "$rc $(stat -c %s "$T/out")" "0 $cap" "exactly the cap"
assert_eq "$(result '[.outcome, .killed_by, .limit] | @json')" '["exited",null,null]' "exactly the cap"
sbx_run --max-output $cap -- sh -c "head -c $((cap / 2)) /dev/zero; head -c $((cap / 2)) /dev/zero >&2"
assert_eq "$rc $(both)" "0 $cap" "exactly the cap on two streams"

over() { # NAME COMMAND...
	local name=$1
	shift
	sbx_run --max-output $cap -t 60 -- "$@"
	assert_eq "$rc" 137 "status: $name"
	assert_eq "$(result '[.outcome, .killed_by, .limit.kind, .limit.configured, .limit.unit] | @json')" \
		"[\"limit_exceeded\",\"output\",\"output\",$cap,\"bytes\"]" "$name"
	assert_ge "$(result .limit.actual)" $((cap + 1)) "bytes at the breach: $name"
	assert_le "$(both)" $cap "bytes in the record: $name"
	assert_le $(($(stat -c %s "$T/out") + $(sed -z 's/sbxctl: output limit[^\n]*\n//' "$T/err" | wc -c))) $cap "bytes passed on: $name"
	assert_result .tree.survivors 0
	assert_match "$err" 'output limit exceeded \(64 KiB\)' "the line: $name"
}
over "one byte more" head -c $((cap + 1)) /dev/zero
assert_eq "$(stat -c %s "$T/out")" $cap "bytes before the cap are not lost"
over "one byte more on the other stream" sh -c "head -c $cap /dev/zero; printf x >&2; sleep 1000"
over "yes" yes
over "an alternator" bash -c 'trap "" PIPE TERM; while :; do echo stdout; echo stderr >&2; done'
over "a background child" sh -c 'setsid yes & sleep 1000'

sbx_json --max-output $cap -- yes
assert_eq "$rc $(result '[.killed_by, .output.stdout.bytes] | @json')" "137 [\"output\",$cap]" "captured"
assert_le "$(result '.output.stdout.text | length')" $((cap + 100)) "length of the text"
