#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 98, 99, 116: forty starts at the same moment, on a host where nothing is loaded yet: each has its own status, output
# and processes, and none of another's.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/inventory.sh"

"$SBXCTL" run -p none -- true || fail "a first run"
"$SBXCTL" unload || fail "unload"
mkfifo "$T/go"
exec 8<>"$T/go"
pids=()
for ((i = 0; i < 40; i++)); do
	(
		read -r -n 1 <"$T/go"
		exec "$SBXCTL" run -p none --result "$T/$i.json" -- \
			sh -c "echo out $i; sleep 0.0$((i % 10)) & setsid sleep 1000 & exit $i" >"$T/$i.out" 2>"$T/$i.err"
	) &
	pids+=($!)
done
printf '%040d' 0 >&8
for ((i = 0; i < 40; i++)); do
	wait "${pids[i]}"
	assert_eq "$?" "$i" "status of $i: $(cat "$T/$i.err")"
	assert_eq "$(cat "$T/$i.out")" "out $i" "output of $i"
	assert_eq "$(jq -c '[.outcome, .exit_code, .tree.processes, (.tree.records | length), .tree.survivors]' "$T/$i.json")" \
		"[\"exited\",$i,3,3,0]" "result of $i"
done
assert_eq "$(jq -r .id "$T"/[0-9]*.json | sort -u | wc -l)" 40 "ids"
assert_eq "$(inventory_rows | grep -E 'sandboxes|tasks' | sort | tr '\n' ' ')" "rows sandboxes 0 rows tasks 0 " "rows left"
