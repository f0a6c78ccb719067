#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# In a container's root group, which holds our own processes, limits are put in force all the same
# (driver raw-v2: they go to a leaf first), and each of them bites.
. "$(dirname "$0")/../../lib/lib.sh"
. "$(dirname "$0")/../lib/container.sh"

capture container_run "
	\"\$SBXCTL\" run -p none -m 64M --pids 20 --result $T/memory.json -- \
		python3 -c 'print(len(bytearray(200 << 20)))'
	echo \"memory \$?\"
	\"\$SBXCTL\" run -p none -m 64M --pids 20 --result $T/pids.json -- \
		python3 -c 'import os, time
for _ in range(40): os.fork() or (time.sleep(1), os._exit(0))'
	echo \"pids \$?\""
assert_eq "$rc" 0 "the container's status"
assert_eq "$(jq -r .outcome "$T/memory.json")" limit_exceeded "outcome over the memory limit"
assert_eq "$(jq -r .killed_by "$T/memory.json")" memory "killed_by"
assert_match "$out" 'memory 137' "the status over the memory limit"
assert_eq "$(jq -r '[.limits_hit[] | select(.kind == "pids")] | length' "$T/pids.json")" 1 "forks refused"
