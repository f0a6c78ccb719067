#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 58: --cpus throttles: the same work, measured in CPU time, takes many times longer, threads or not.
. "$(dirname "$0")/../lib/lib.sh"

wall() { # OPTIONS: milliseconds for 150 ms of CPU time
	sbx_run "$@" -t 60 -- "$AIDS/spin" "$threads" 150
	assert_eq "$rc" 0 "status with $*"
	ms=$(result '.times.wall_ns / 1000000 | floor')
}
for threads in 1 4; do
	wall --cpus 0.1
	slow=$ms
	assert_ge "$slow" 900 "milliseconds of 150 ms of work with a tenth of a CPU, $threads threads"
	assert_eq "$(result '[.limits.cpus.value, .limits.cpus.unit, .limits.cpus.still_in_force] | @json')" \
		'[100,"millicores",true]' "the limit"
	# Others may keep the processors busy for a while: the control is the best of some.
	for _ in 1 2 3 4 5 6 7 8; do
		wall
		[ $((ms * 2)) -gt "$slow" ] || break
	done
	assert_ge "$slow" $((ms * 2)) "milliseconds of the same work with a tenth of a CPU, $threads threads"
done
for spelled in 100m 0.1; do
	sbx_run --cpus $spelled -- true
	assert_result .limits.cpus.value 100
done
