#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 97, 104: a keeper that the kernel kills for want of memory takes its tree along, and so does an owner; the
# next command says so.
. "$(dirname "$0")/../lib/lib.sh"
need_root

make_group() { # a group of 96 MiB, wherever the memory controller is
	local own
	if own=$(awk -F: '$2 ~ /(^|,)memory(,|$)/ { print $3 }' /proc/self/cgroup) && [ -n "$own" ]; then
		group=/sys/fs/cgroup/memory$own/oom-test-$$
		[ -d "/sys/fs/cgroup/memory$own" ] || group=/sys/fs/cgroup/memory/oom-test-$$
		mkdir "$group" && echo 96M >"$group/memory.limit_in_bytes"
	else
		group=/sys/fs/cgroup/oom-test-$$
		mkdir "$group" && echo 96M >"$group/memory.max" && echo 0 >"$group/memory.swap.max"
	fi
}
make_group 2>/dev/null || { rmdir "$group" 2>/dev/null; skip "no group with a memory limit can be made"; }
cleanup() {
	for _ in 1 2 3 4 5 6; do
		find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
		[ -d "$group" ] || break
		sleep 0.3
	done
}

# Who wants the memory is spared, who supervises it is not.
cookie=$(unique_seconds)
inside="echo 0 >/proc/self/oom_score_adj; setsid sleep $cookie & sleep $cookie & exec '$AIDS/hog' heap 500000000"
sh -c "echo \$\$ >'$group/cgroup.procs'; echo 1000 >/proc/self/oom_score_adj; exec '$SBXCTL' run -p none -- sh -c \"$inside\"" \
	>"$T/out" 2>&1
assert_eq $? 137 "status of a keeper that was killed for memory"
assert "its tree is dead" wait_until 10 none_with "$cookie"
id=$(basename "$(ls -td "$SBX_RUN_DIR"/??????????/ | head -n 1)")
"$SBXCTL" wait "$id"
cp "$SBX_RUN_DIR/$id/result.json" "$T/result.json"
assert_eq "$(result '[.outcome, .killed_by, .tree.survivors] | @json')" '["owner_exited","owner",0]' "its record"
