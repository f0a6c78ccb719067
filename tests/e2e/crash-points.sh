#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 180
# Contracts 68, 117: the keeper dies at each step of start and end in turn, and fails at each step of the start: afterwards
# the host holds what it held before. The names come from the source, so that a new step is tried as well.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/inventory.sh"

# Sources are not in every place the suite runs in; then the list of the last time they were is used.
points() {
	local source=$LIB_ROOT/user/run
	if [ -d "$source" ]; then
		sed -nE 's/.*(FAULT\(|[{] )"((start|end)_[a-z]+)".*/\2/p' "$source"/*.c | sort -u
	else
		sed -n 's/^# points: //p' "${BASH_SOURCE[0]}" | tr ' ' '\n'
	fi
}
# points: end_cgroup end_drain end_dying end_kill end_release end_result end_row start_apart start_cache
# points: start_cgroup start_child start_dir start_enter start_environ start_exec start_files start_kern
# points: start_label start_mounts start_names start_network start_owner start_pidns start_policy
# points: start_ready start_record start_release start_rules start_sandbox start_sources start_streams
# points: start_user start_verify start_watcher
[ "$(points | wc -l)" -ge 20 ] || fail "only $(points | wc -l) fault points were found"
if [ -d "$LIB_ROOT/user/run" ]; then
	assert_eq "$(points | tr '\n' ' ')" "$(sed -n 's/^# points: //p' "${BASH_SOURCE[0]}" | tr '\n' ' ')" \
		"the points in this file and those in the source"
fi

options=(-m 128M --pids 50 --cpus 1 --private-tmp --workdir new --disk 8M -t 20 -k 0.1)
faulty none:none run -p none "${options[@]}" -- true || fail "a run without a fault"
"$LIB_ROOT/build/faults/sbxctl" ps >/dev/null
inventory | sort >"$T/before"

try() { # POINT ACTION OPTIONS: a run with leftovers that the fault meets
	local fault=$1:$2
	shift 2
	{
		faulty "$fault" run -p none "${options[@]}" "$@" -- sh -c 'setsid sleep 1000 & sleep 0.05; exit 3' \
			>"$T/out" 2>"$T/err"
		rc=$?
	} 2>/dev/null # the shell's own words about signals
	case $fault in
	*:crash) [ $rc = 137 ] || [ $rc = 3 ] || fail "status $rc after $fault" ;;
	start_*:fail) assert_eq $rc 125 "status after $fault" ;;
	esac
}

# In a pid namespace of its own, whose init has to go as well; crash-at-each-step.sh does it without one.
for point in $(points); do
	try "$point" crash --pid-ns on
	met=$rc
	inventory_sweep "$LIB_ROOT/build/faults/sbxctl"
	assert_inventory "$T/before" "a crash at $point"
	case $point in end_kill | end_dying) ;; *) assert_eq $met 137 "status of a crash at $point: was it met?" ;; esac
done
for point in $(points | grep ^start_); do
	try "$point" fail
	assert_one_line "$(cat "$T/err")" "^sbxctl: $point" "the line of a failure at $point"
	assert_inventory "$T/before" "a failure at $point, with nothing to sweep"
done

# Where the kernel cannot kill and no watcher is there yet, the child sees that its keeper is gone, and so does the front.
"$LIB_ROOT/build/faults/sbxctl" unload
export SBX_DEGRADE=exit-hook SBX_FAULT=start_watcher:crash
timeout 10 "$LIB_ROOT/build/faults/sbxctl" run -p none --leftovers keep -- sleep 1000 2>/dev/null
assert_ne "$?" 124 "status of a crash before the watcher"
unset SBX_FAULT
inventory_sweep "$LIB_ROOT/build/faults/sbxctl"
"$LIB_ROOT/build/faults/sbxctl" unload
