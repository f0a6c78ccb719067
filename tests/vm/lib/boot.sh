# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# boot.sh: one boot, from qemu_argv to a verdict. The machine says "rig TOKEN begin" and
# "rig TOKEN close P F S" on its serial line; anything else that ends it is a failure.

vm_passed=0 vm_failed=0 vm_skipped=0

# vm_boot NAME LOG LIMIT_S: runs qemu_argv (the append line must hold rig.token=$vm_token), streams
# what the suites print and sets vm_passed, vm_failed, vm_skipped. The whole console goes to LOG.
vm_boot() {
	local name=$1 log=$2 limit=$3 serial
	vm_passed=0 vm_failed=0 vm_skipped=0 vm_state=booting
	: > "$log"
	exec {serial}< <(exec "${qemu_argv[@]}" 2>&1 < /dev/null)
	vm_pid=$!
	vm_stream "$serial" "$log" "$limit"
	exec {serial}<&-
	vm_stop
	vm_judge "$name" "$log" "$limit"
}

vm_stream() {
	local serial=$1 log=$2 line got left limit=$3
	local end=$((SECONDS + limit)) boot_end=$((SECONDS + ${RIG_BOOT_LIMIT:-120}))
	while :; do
		left=$((end - SECONDS))
		[ "$vm_state" != booting ] || left=$((boot_end - SECONDS))
		if [ "$left" -le 0 ]; then
			vm_state="hung-$vm_state"
			return
		fi
		got=0
		IFS= read -r -t "$left" -u "$serial" line || got=$?
		[ "$got" -le 128 ] || continue
		[ "$got" -eq 0 ] || return 0
		line=${line%$'\r'}
		printf '%s\n' "$line" >> "$log"
		vm_line "$line"
		[ "$vm_state" != closed ] || return 0
	done
}

# Firmware and kernel write to the same line, so what is ours may begin in the middle of it.
vm_line() {
	case $1 in
	*"rig $vm_token begin "*) vm_state=running ;;
	*"rig $vm_token close "*)
		read -r vm_passed vm_failed vm_skipped <<< "${1##*"rig $vm_token close "}"
		vm_state=closed
		;;
	*) [ "$vm_state" != running ] || printf '%s\n' "$1" ;;
	esac
}

vm_stop() {
	for _ in {1..50}; do
		if [ "$vm_state" != closed ] || ! kill -0 "$vm_pid" 2> /dev/null; then
			break
		fi
		sleep 0.1
	done
	kill -9 "$vm_pid" 2> /dev/null || true
	wait "$vm_pid" 2> /dev/null || true
	vm_pid=
}

vm_judge() {
	local name=$1 log=$2 limit=$3 why
	case $vm_state in
	closed) return ;;
	booting) why="the machine ended before it had booted" ;;
	running) why="the machine ended without its closing line" ;;
	hung-booting) why="the machine had not booted after ${RIG_BOOT_LIMIT:-120} s" ;;
	*) why="the suite had not closed after $limit s" ;;
	esac
	{
		grep -m 3 -E 'Kernel panic|BUG:|Oops' "$log" || true
		tail -n 15 "$log"
	} | sed 's/^/# console: /'
	printf 'not ok %s: %s (console: %s)\n' "$name" "$why" "$log"
	vm_failed=$((vm_failed + 1))
}
