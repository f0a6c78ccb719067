#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 164: events may be lost, the truth may not: a keeper that is stopped while thousands come and go has dropped
# records, says how many, and still counts every process exactly.
. "$(dirname "$0")/../lib/lib.sh"

cleanup() { [ -z "${keeper:-}" ] || kill -KILL "$keeper" 2>/dev/null; }

sbx_run -- "$AIDS/storm" forks 3 50
assert_eq "$rc" 0 "status of a small storm"
assert_eq "$(result '[.tree.processes, (.tree.records | length), .tree.records_dropped] | @json')" '[154,154,0]' \
	"processes, records and drops of a small one"

keep_result
"$SBXCTL" run -p none --result "$T/result.json" -- \
	sh -c "touch '$T/up'; until [ -e '$T/go' ]; do sleep 0.05; done; exec '$AIDS/storm' forks 3 1000" &
keeper=$!
assert "the command starts" wait_until 10 test -e "$T/up"
kill -STOP $keeper
touch "$T/go"
storms() { pgrep -fc "^$AIDS/storm forks 3 1000"; }
over() { [ "$(storms)" = 0 ]; }
wait_until 5 pgrep -f "^$AIDS/storm forks 3 1000" >/dev/null
assert "the storm ends while the keeper is stopped" wait_until "$(slow_ms 30)" over
kill -CONT $keeper
wait $keeper
assert_eq $? 0 "status"

polls=$(result '[.tree.records[] | select(.comm == "sleep")] | length')
processes=$(result .tree.processes)
dropped=$(result .tree.records_dropped)
echo "$processes processes, $dropped events dropped, $polls sleeps"
assert_ge "$dropped" 1 "dropped events"
# 3 workers, 1000 children of each, the root; and its touch and sleeps at the beginning, which were all recorded.
assert_eq $((processes - polls)) 3005 "processes but the sleeps"
assert_eq "$(result '[.tree.survivors, .tree.killed] | @json')" '[0,0]' "survivors and killed"
assert_eq "$(result '[.tree.records[] | select(.ended_ns != null and .started_ns > .ended_ns)] | length')" 0 "records that lie"
