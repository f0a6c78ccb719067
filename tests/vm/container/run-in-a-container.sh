#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 90
# Inside a container with its own pid, mount and cgroup namespace a run gives the command's status and
# kills what setsid hid from it.
. "$(dirname "$0")/../../lib/lib.sh"
. "$(dirname "$0")/../lib/container.sh"

seconds=$(unique_seconds)
capture container_run "
	\"\$SBXCTL\" run -p none -- sh -c 'exit 7' || echo \"status \$?\"
	\"\$SBXCTL\" run -p none --result $T/result.json -- sh -c 'setsid sleep $seconds & exit 3'
	echo \"status \$?\"
	ps -eo args | grep -c '^[s]leep $seconds'
	true"
assert_eq "$rc" 0 "the container's status"
assert_eq "$out" $'status 7\nstatus 3\n0' "what the runs said"
assert "the hidden process is gone" none_with "$seconds"
assert_result .outcome exited
assert_result .tree.survivors 0
