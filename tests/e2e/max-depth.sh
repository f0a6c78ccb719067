#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 63: --max-depth counts generations below the command: that many are fine, one more ends the tree.
. "$(dirname "$0")/../lib/lib.sh"

cat >"$T/chain" <<-'END'
	#!/bin/bash
	# chain N: one generation below the other, N in all, and the last one says so
	[ "$1" -gt 0 ] || { echo bottom && exit 0; }
	"$0" $(($1 - 1))
	exit $?
END
chmod 755 "$T/chain"

sbx_run --max-depth 10 -t 60 -- "$T/chain" 10
assert_eq "$rc $out $(result .outcome)" "0 bottom exited" "exactly as deep as it may be"
sbx_run --max-depth 10 -t 60 -- "$T/chain" 11
assert_eq "$rc $out" "137 " "one generation more"
assert_eq "$(result '[.outcome, .killed_by, .limit.kind, .limit.configured, .limit.actual] | @json')" \
	'["limit_exceeded","depth","depth",10,11]' "one generation more"
assert_match "$err" 'depth limit exceeded \(10\)' "its line"
assert_result .tree.survivors 0

# Reparenting does not reset it: a process that hops from parent to child gets deeper with each hop.
sbx_run --max-depth 50 -t 60 -- "$AIDS/storm" hop 2
assert_eq "$rc $(result .killed_by)" "137 depth" "hopping"
# An exec without a fork is no generation.
sbx_run --max-depth 1 -t 60 -- sh -c 'exec sh -c "exec sh -c \"exec sh -c true\""'
assert_eq "$rc" 0 "execs in one process"
