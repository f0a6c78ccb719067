# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What a host holds of sbx: processes, control groups, rows of the kernel half, pins, mounts, directories. Two lists
# are equal when nothing leaked. Sourced after lib.sh, by tests that compare before and after.

# Only LC_* crosses into a sandbox by default, so the word that marks this test's processes is one.
export LC_SBX_TEST=${LC_SBX_TEST:-$$.$RANDOM}

inventory_processes() {
	local p _ comm
	grep -lza "^LC_SBX_TEST=$LC_SBX_TEST" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ p _; do
		IFS= read -r comm 2>/dev/null <"/proc/$p/comm" || continue
		case $comm in sbx* | sleep | shapes) alive "$p" && echo "process $comm" ;; esac
	done
}

# Of other runs on this host only groups in which nobody lives could be ours.
inventory_groups() {
	local group
	find /sys/fs/cgroup -type d -name 'sbx-??????????' -prune 2>/dev/null | while read -r group; do
		find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null | grep -q . || echo "group $group"
	done
}

inventory_rows() {
	local map
	for map in sandboxes tasks owners rings; do
		find "$SBX_RUN_DIR/bpf/sbx" -name "$map" 2>/dev/null | while read -r map; do
			echo "rows ${map##*/} $("$AIDS/rows" "$map" 2>&1)"
		done
	done
}

# What ended runs leave behind on purpose: their records, and links to execute by that are the same for every run.
inventory_files() {
	find "$SBX_RUN_DIR" -path "$SBX_RUN_DIR/bpf" -prune -o -path "$SBX_RUN_DIR/exec" -prune -o -print 2>/dev/null |
		grep -vE '/[a-z2-7]{10}(/(meta|result).json|/std(out|err).spill)?$' | sed 's/^/file /'
}

# Places where a run mounts something, in a namespace of its own; the bpffs of the kernel half outlives runs.
inventory_mounts() {
	awk -v own="$SBX_RUN_DIR/" '{
		for (i = 7; $i != "-"; i++);
		if ($(i + 1) != "bpf" && ($5 ~ "^/(tmp|var/tmp|dev/shm|proc)$" || index($5, own) == 1)) print "mount " $5
	}' /proc/self/mountinfo
}

inventory() {
	inventory_processes
	inventory_groups
	inventory_rows
	find "$SBX_RUN_DIR/bpf" 2>/dev/null | sed 's/^/pin /'
	inventory_mounts
	inventory_files
}

# The kernel frees a group a moment after its last process.
inventory_settles() { # BEFORE: a file with the list from before
	inventory | sort >"$T/inventory.now"
	# A group that was there before and is not now was another run's, which has ended.
	! comm -3 "$1" "$T/inventory.now" | grep -v '^group ' | grep -q .
}

assert_inventory() { # BEFORE WHAT
	wait_until 5 inventory_settles "$1" && return
	diff "$1" "$T/inventory.now" | sed -n 's/^</  missing:/p; s/^>/  left:/p'
	fail "the inventory changed: $2"
}

nobody_left() { [ -z "$(inventory_processes)" ]; }

# After a keeper's death its tree dies without anybody's help; what else there was is swept by the next command. Two
# things would make that command leave a directory alone: a process that is in exit may hold its lock for another
# moment, and one younger than two seconds could just be being made.
inventory_sweep() { # PROGRAM [WHAT]
	local dir
	wait_until 5 nobody_left || {
		ps -eo pid,ppid,sid,stat,wchan:20,lstart,args | grep -E "sbx|shapes" | grep -v grep
		fail "alive without a keeper: $(inventory_processes | sort | uniq -c | tr '\n' ' ')${2:+($2)}"
	}
	for dir in "$SBX_RUN_DIR"/??????????/; do
		[ ! -d "$dir" ] || [ -e "$dir/result.json" ] || flock -s -w 1 "$dir" true
		touch -d '1 minute ago' "$dir" 2>/dev/null
	done
	"$1" ps >/dev/null || fail "the command after the crash"
}
