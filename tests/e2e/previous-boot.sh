#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 104, 108, 133: what a dead keeper left before the host was restarted is settled by the next command, as
# unknown: its receipt went with the kernel, and a group of that name is somebody else's. So it is when the receipt alone
# is gone.
. "$(dirname "$0")/../lib/lib.sh"
need_root

dead_run() { # a run whose keeper and tree are dead, and nothing swept
	naps=$(unique_seconds)
	id=$("$SBXCTL" run -p none -d -- sleep "$naps")
	group=$("$SBXCTL" inspect "$id" | jq -r .status.cgroup)
	kill -KILL "$("$SBXCTL" inspect "$id" | jq .status.keeper_pid)"
	assert "the tree dies" wait_until 5 none_with "$naps"
}
unknown() { # DIAGNOSTIC
	capture "$SBXCTL" wait "$id"
	assert_ne "$rc" 0 "status: $1"
	cp "$SBX_RUN_DIR/$id/result.json" "$T/result.json"
	assert_eq "$(result '[.outcome, .exit_code, .signal, .diagnostic] | @json')" "[\"unknown\",null,null,\"$1\"]" "$1"
	keep_result
	assert "no socket" test ! -e "$SBX_RUN_DIR/$id/sock"
	assert_eq "$("$SBXCTL" ps --json | jq length)" 0 "live runs: $1"
}

dead_run
sleep 1000 &
stranger=$!
stranger_goes() {
	kill $stranger
	wait $stranger 2>/dev/null
	for _ in 1 2 3 4 5; do
		find /sys/fs/cgroup -type d -name "${group##*/}" -exec rmdir {} + 2>/dev/null && break
		sleep 0.2
	done
}
echo $stranger >"$group/cgroup.procs" || fail "no stranger in '$group'"
jq '.boot_id = "00000000-0000-0000-0000-000000000000"' "$SBX_RUN_DIR/$id/meta.json" >"$T/meta.json"
cat "$T/meta.json" >"$SBX_RUN_DIR/$id/meta.json"
unknown "the host was restarted while it ran"
assert "who lives in a group of that name" alive $stranger
stranger_goes

dead_run
rm -rf "$SBX_RUN_DIR/bpf/sbx"
unknown "the keeper died and left no evidence of the end"
assert_eq "$(find /sys/fs/cgroup -type d -name "${group##*/}")" "" "its group"
