#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# Contract 102: the kill is complete against processes that hop from parent to child faster than anyone looks; bounded,
# ten times over.
. "$(dirname "$0")/../lib/lib.sh"

hoppers() { pgrep -cf "^$AIDS/storm hop"; }

for ((i = 0; i < 10; i++)); do
	sbx_run -t "$(slow_ms 200)ms" -k none -- "$AIDS/storm" hop 100
	assert_eq "$rc" 124 "status of storm $i"
	assert_eq "$(result '[.killed_by, .tree.survivors] | @json')" '["wall",0]' "storm $i"
	assert_le "$took_ms" "$(slow_ms 2500)" "milliseconds of storm $i"
	assert_eq "$(hoppers)" 0 "hoppers alive after storm $i"
	assert_ge "$(result .tree.processes)" 101 "processes of storm $i"
done

# And beside others who want the CPUs: a keeper that gets a turn in a hundred adopts what hops faster than it reaps, and
# must look at its deadline all the same.
busy=()
for _ in $(seq $((2 * $(nproc)))); do
	timeout 60 yes >/dev/null &
	busy+=($!)
done
for ((i = 0; i < 3; i++)); do
	sbx_run -t "$(slow_ms 200)ms" -k none -- "$AIDS/storm" hop 150
	assert_eq "$rc" 124 "status of busy storm $i"
	assert_le "$took_ms" "$(slow_ms 4000)" "milliseconds of busy storm $i"
	assert_result .tree.survivors 0
done
kill "${busy[@]}"

# The same when it is the keeper that dies, and when the tree has left its group.
"$SBXCTL" run -p none -- "$AIDS/storm" hop 100 >/dev/null 2>&1 &
keeper=$!
assert "the storm starts" wait_until 10 pgrep -f "^$AIDS/storm hop"
sleep 0.2
kill -KILL $keeper
wait $keeper 2>/dev/null
storm_over() { [ "$(hoppers)" = 0 ]; }
assert "the storm dies with its keeper" wait_until 5 storm_over
"$SBXCTL" ps >/dev/null
