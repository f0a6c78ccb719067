#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 14: the status is the command's, but every process leaves its own: a failing middle stage of a pipeline is
# in the records and its words in the output.
. "$(dirname "$0")/../lib/lib.sh"

exits() { # COMM: how its processes ended, sorted
	result "[.tree.records[] | select(.comm == \"$1\") | \"\(.exit_code)/\(.signal)\"] | sort | join(\" \")"
}

sbx_run -- sh -c 'cat /nonexistent-input | cat'
assert_eq "$rc" 0 "status of the pipeline"
assert_match "$err" '/nonexistent-input' "the failing stage's words"
assert_eq "$(exits cat)" "0/null 1/null" "how the two cats ended"
assert_result .tree.processes 3
assert_result '.tree.records | length' 3
assert_result .tree.records_dropped 0

sbx_run -- sh -c 'x=$(cat /nonexistent-input)'
assert_eq "$rc" 1 "status of a command substitution that fails"
assert_eq "$(exits cat)" "1/null" "how its cat ended"

# A signal, three codes, and parents that can be followed from each record up to the root.
sbx_run -- bash -c 'sleep 0.01 | bash -c "exit 3" | bash -c "kill -TERM \$\$" | cat >/dev/null; exit 6'
assert_eq "$rc" 6 "status of the root"
assert_eq "$(exits bash)" "3/null 6/null null/15" "how the shells ended"
assert_eq "$(result '.tree.records as $r | [$r[].pid] as $pids
	| [$r[] | select(.ppid as $p | $pids | index($p) | not)] | length')" 1 "roots of the tree of records"
assert_eq "$(result '[.tree.records[] | select(.ended_ns == null or .ended_ns < .started_ns)] | length')" 0 \
	"records without a beginning before their end"

# The same for people.
sbx_run --tree -- sh -c 'cat /nonexistent-input | cat; exit 2'
assert_eq "$rc" 2 "status"
assert_match "$err" '(^|
)sh [0-9]+  exit 2  [0-9.]+ s' "the root's line of --tree"
assert_match "$err" '
  cat [0-9]+  exit 1 ' "the failing stage's line, below it"
