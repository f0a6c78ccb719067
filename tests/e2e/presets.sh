#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 17, 18, 55: presets are names for numbers that the record shows with their origin; no limit is no timer
# at all, and recorded as waived.
. "$(dirname "$0")/../lib/lib.sh"

numbers() { result '.limits | [.wall.value, .output.value, .memory.value, .pids.value] | join(" ")'; }
origins() { result '[.limits[] | select(.value != null) | .origin] | unique | join(" ")'; }

while read -r name wanted; do
	sbx_run --limits "$name" -- true
	assert_eq "$rc" 0 "status under $name"
	assert_eq "$(numbers)" "$wanted" "wall, output, memory and pids of $name"
	assert_eq "$(origins)" "preset:$name" "origin of what $name set"
	assert_eq "$(result '[.limits[] | select(.value != null and .still_in_force != true)] | length')" 0 \
		"limits of $name that were not in force at the end"
done <<END
strict 1000000000 65536 134217728 32
default 5000000000 1048576 536870912 128
relaxed 30000000000 10485760 2147483648 512
END

# The wall clock of a preset is a deadline, and what is said by itself wins.
sbx_run --limits strict -- sleep 1000
assert_eq "$rc $(result .killed_by)" "124 wall" "a sleeper under strict"
assert_ge "$(result .times.wall_ns)" 1000000000 "its wall time"
sbx_run --limits relaxed -t 0.2 -- sleep 1000
assert_eq "$rc $(result '[.limits.wall.value, .limits.wall.origin, .limits.pids.origin] | @json')" \
	'124 [200000000,"explicit","preset:relaxed"]' "a number of one's own beside a preset"
sbx_run --limits strict -t none -- sleep 1.3
assert_eq "$rc $(result '[.limits.wall.value, .limits.wall.origin] | @json')" '0 [null,"waived"]' \
	"a limit of the preset that was waived"

# Structure: a short run passes any budget, so the absence of a deadline is read off the keeper's descriptors.
keeper_timers() { # OPTIONS: timerfds of a live keeper, and armed ones, once it is at rest
	rm -f "$T/up"
	"$SBXCTL" run -p none "$@" -- sh -c "touch '$T/up'; exec sleep 1000" &
	keeper=$!
	assert "the run starts" wait_until 20 test -e "$T/up"
	rests() {
		# shellcheck disable=SC2010,SC2012 # a descriptor's target is only in ls's words
		timers=$(ls -l "/proc/$keeper/fd" | grep -c 'timerfd')
		armed=$(cat "/proc/$keeper/fdinfo/"* 2>/dev/null | awk '/^it_value:/ && $2 $3 != "(0,0)"' | wc -l)
		[ "$timers $armed" = "$wanted" ]
	}
	wait_until 5 rests
	kill $keeper
	wait $keeper 2>/dev/null
}
wanted='0 0'
keeper_timers --limits none
assert_eq "$timers $armed" "$wanted" "timers of a keeper without limits, and armed ones"
keeper_timers
assert_eq "$timers $armed" "$wanted" "timers of a keeper that was given no limit"
wanted='2 2'
keeper_timers -t 1000
assert_eq "$timers $armed" "$wanted" "timers of a keeper with a deadline: its own, and one that works while it is stopped"

sbx_run --limits none -- true
assert_eq "$(result '[.limits[].origin] | unique | join(" ")')" waived "origins under --limits none"
assert_match "$(result .tier.sentence)" 'waived' "the tier's sentence"
