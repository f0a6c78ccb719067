#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# Contract 68: after 50 runs, good, bad, detached and with keepers SIGKILLed at random moments, the host holds what it held:
# no process, group, row, pin, mount or directory more.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/inventory.sh"

sbx_run -m 256M --pids 100 --workdir new -- true
"$SBXCTL" ps >/dev/null
inventory | sort >"$T/before"

for ((i = 0; i < 10; i++)); do
	for options in "" "-m 64M --pids 50 --cpus 1 --private-tmp" "--pid-ns on -t 10 --workdir new"; do
		# shellcheck disable=SC2086
		capture "$SBXCTL" run -p none $options -- sh -c "setsid sleep 1000 & exit $i"
		assert_eq "$rc" "$i" "status with $options"
	done
	capture "$SBXCTL" run -p none -m 64M -- /nonexistent/program
	assert_eq "$rc" 127 "status of a start that fails"
done
assert_inventory "$T/before" "after 40 runs that ended in order"

RANDOM=4711
for ((i = 0; i < 20; i++)); do
	case $((i % 3)) in
	0) options="" ;;
	1) options="-m 64M --pids 50 --private-tmp --disk 8M" ;;
	2) options="--pid-ns on --workdir new" ;;
	esac
	# shellcheck disable=SC2086
	"$SBXCTL" run -p none $options -- sh -c 'setsid sleep 1000 & sleep 1000' >/dev/null 2>&1 &
	sleep "0.0$((RANDOM % 5))$((RANDOM % 10))"
	kill -KILL $!
	wait $! 2>/dev/null
done
inventory_sweep "$SBXCTL"
assert_inventory "$T/before" "after 20 keepers were SIGKILLed and the next command had swept"
