#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 16: idle means neither output nor CPU: silence ends a run, silent work and slow talk do not.
. "$(dirname "$0")/../lib/lib.sh"

sbx_run --idle-timeout 0.3 -- sleep 1000
assert_eq "$rc" 137 "status of a sleeper"
assert_eq "$(result '[.outcome, .killed_by, .limit.kind, .limit.configured] | @json')" \
	'["limit_exceeded","idle","idle",300000000]' "a sleeper"
assert_ge "$(result .limit.actual)" 300000000 "nanoseconds of silence"

sbx_run --idle-timeout 0.5 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.15; done; exit 3'
assert_eq "$rc $(result .outcome)" "3 exited" "one line every 150 ms"

sbx_run --idle-timeout 0.4 -- "$AIDS/spin" 1 1200
assert_eq "$rc $(result .outcome)" "0 exited" "silent work"

sbx_run --idle-timeout 0.3 -- sh -c 'echo talked; exec sleep 1000'
assert_eq "$rc $out $(result .killed_by)" "137 talked idle" "silence after talk"
assert_match "$err" 'idle limit exceeded \(300 ms\)' "its line"
