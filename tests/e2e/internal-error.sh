#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 8: a failure of our own keeps what was already done: output, records and files so far are there, the tree is
# gone, and the outcome says whose failure it was.
. "$(dirname "$0")/../lib/lib.sh"

cookie=$(unique_seconds)
keep_result
capture faulty capture_read:fail run -p none --result "$T/result.json" -t 60 -- \
	sh -c "touch '$T/before'; setsid sleep $cookie & echo hi; sleep $cookie"
assert_eq "$rc" 137 "status when output cannot be read"
assert_eq "$(result '[.outcome, .killed_by, .limit] | @json')" '["internal_error",null,null]' "output cannot be read"
assert_match "$(result .diagnostic)" '^sbx: internal error \(read the output: ' "its diagnostic"
assert_one_line "$(grep ^sbxctl "$T/err")" '^sbxctl: sbx: internal error' "its line"
assert "what the command had done is there" test -e "$T/before"
assert "nothing is left" none_with "$cookie"
assert_result .tree.survivors 0
assert_ge "$(result '.tree.records | length')" 3 "records"

# The result cannot be stored: the caller's copy is whole all the same.
keep_result
capture faulty end_result:fail run -p none --result "$T/result.json" -- sh -c 'echo hi; exit 3'
assert_eq "$rc $out $(result .outcome)" "3 hi exited" "a result that cannot be stored"

# The kill is not left to one way alone.
for fault in end_kill end_dying; do
	keep_result
	capture faulty $fault:drop run -p none --result "$T/result.json" -t 0.2 -k none -- \
		sh -c "trap '' TERM; setsid sleep $cookie & sleep $cookie; sleep $cookie"
	assert_eq "$rc $(result .tree.survivors)" "124 0" "without $fault"
	assert "nothing is left without $fault" none_with "$cookie"
done
