#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 5: a kill is attributed on evidence: a SIGKILL from outside is external, beside every limit; a limit's is the
# limit's, even when its victim is not the root.
. "$(dirname "$0")/../lib/lib.sh"

rm -f "$T/pid"
sbx_run_and() { # COMMAND for the root's pid, OPTIONS...
	local act=$1
	shift
	keep_result
	rm -f "$T/pid"
	"$SBXCTL" run -p none --result "$T/result.json" "$@" -- sh -c "echo \$\$ >'$T/pid'; exec sleep 1000" 2>"$T/err" &
	assert "the command starts" wait_until 10 test -s "$T/pid"
	sleep 0.1
	$act "$(cat "$T/pid")"
	wait $!
	rc=$?
}
sbx_run_and "kill -KILL" -m 64M --cpu-time 100 -t 100 --max-execs 100
assert_eq "$rc $(result '[.outcome, .signal, .killed_by, .limit] | @json')" '137 ["signaled",9,"external",null]' \
	"SIGKILL from outside"
sbx_run_and "kill -TERM" -m 64M -t 100
assert_eq "$rc $(result '[.outcome, .signal, .killed_by] | @json')" '143 ["signaled",15,null]' "SIGTERM from outside"

# A child runs out of the tree's memory while the root waits: the whole tree goes, and memory is why.
sbx_run -m 48M -t 60 -- sh -c "'$AIDS/hog' heap 200000000; echo the root went on; sleep 1000"
assert_eq "$rc $(result '[.killed_by, .limit.kind] | @json')" '137 ["memory","memory"]' "a child over the memory limit"
assert_no_match "$out" 'ALLOCATED-PAST-CAP' "its marker"
# The same exit status, said by the command itself, is the command's.
sbx_run -m 48M -t 60 -- sh -c 'exit 137'
assert_eq "$rc $(result '[.outcome, .exit_code, .killed_by] | @json')" '137 ["exited",137,null]' "exit 137"
