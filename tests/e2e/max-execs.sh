#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 64: --max-execs counts the programs started in the whole tree: exactly that many run, one more ends it.
. "$(dirname "$0")/../lib/lib.sh"

sbx_run --max-execs 100 -t 60 -- bash -c 'while :; do /bin/echo .; done'
assert_eq "$rc" 137 "status of an endless loop"
assert_eq "$(result '[.outcome, .killed_by, .limit.kind, .limit.configured, .limit.actual, .limit.unit] | @json')" \
	'["limit_exceeded","execs","execs",100,101,"count"]' "an endless loop"
assert_eq "$(wc -l <"$T/out")" 99 "programs that ran, beside the shell"
assert_result .tree.survivors 0
assert_match "$err" 'execs limit exceeded \(100\)' "its line"

loop() { # COUNT: the shell and COUNT more programs
	sbx_run --max-execs 50 -t 60 -- bash -c "for ((i = 0; i < $1; i++)); do /bin/true; done; echo done"
}
loop 49
assert_eq "$rc $out $(result .outcome)" "0 done exited" "exactly as many as may be"
# The one too many dies before its first instruction; the shell beside it may get a word in before the tree does.
# Where the exec is refused, its shell may end in order before anybody looks: it is a breach all the same.
loop 50
assert_eq "$rc $(result .killed_by)" "137 execs" "one more"

# Parallel, in sessions of their own, from threads: all of them are the tree's.
sbx_run --max-execs 50 -t 60 -- bash -c 'for i in 1 2 3 4; do
	setsid bash -c "trap \"\" TERM; while :; do /bin/true; done" & done; wait; sleep 1000'
assert_eq "$rc $(result .killed_by)" "137 execs" "four loops in sessions of their own"
assert_ge "$(result .limit.actual)" 51 "their programs"
assert_le "$(result .limit.actual)" 60 "their programs"
