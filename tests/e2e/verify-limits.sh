#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 52, 66: a limit whose writing "succeeds" and does nothing is noticed before the command's first instruction,
# and refused by name.
. "$(dirname "$0")/../lib/lib.sh"

while read -r option value word; do
	capture faulty cgroup_write:drop run -p none "$option" "$value" --result "$T/result.json" -- touch "$T/ran"
	assert_eq "$rc" 125 "status with $option dropped"
	assert_one_line "$err" "^sbxctl: .*$word" "the line of $option"
	assert "nothing ran with $option dropped" test ! -e "$T/ran"
	assert_result .outcome could_not_run
	keep_result
	capture faulty none:none run -p none "$option" "$value" -- touch "$T/ran"
	assert_eq "$rc" 0 "status with $option in force"
	assert "it ran with $option in force" rm "$T/ran"
done <<END
-m 64M memory
--pids 50 pids
--cpus 0.5 (cpu|CPU)
END

# What cannot be enforced may be waived by name, and then the record says so.
capture faulty cgroup_write:drop run -p none -m 64M --allow-reduced memory_cap --result "$T/result.json" -- true
assert_eq "$rc" 0 "status with memory_cap waived: $err"
assert_eq "$(result '.tier.clauses[] | select(.capability == "memory_cap") | .enforced')" false "its clause"
assert_match "$(result .tier.sentence)" 'memory: not enforced' "the tier's sentence"
assert_result .limits.memory.origin waived
