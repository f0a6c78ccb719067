#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `wait` returns when the run ends, with the run's own status, however it ended and whether it asked before or after.
. "$(dirname "$0")/../lib/lib.sh"
need_root

check() { # STATUS RUN-ARGUMENTS...
	local want=$1 id
	shift
	id=$("$SBXCTL" run -p none -d "$@") || fail "run -d $*"
	capture "$SBXCTL" wait "$id"
	assert_eq "$rc" "$want" "wait for: $*"
	assert_eq "$out$err" "" "what wait prints"
	capture "$SBXCTL" wait "$id"
	assert_eq "$rc" "$want" "wait again for: $*"
}
check 0 -- sleep 0.3
check 42 -- sh -c 'sleep 0.2; exit 42'
check 139 -- sh -c 'sleep 0.2; kill -SEGV $$'
check 124 -t 200ms -k 100ms -- sleep 20
check 137 --max-output 100K -- sh -c 'sleep 0.2; yes'

# Several may wait for one.
id=$("$SBXCTL" run -p none -d -- sh -c 'sleep 0.5; exit 7')
pids=
for _ in 1 2 3 4; do
	"$SBXCTL" wait "$id" &
	pids="$pids $!"
done
for p in $pids; do
	wait "$p"
	assert_eq $? 7 "one of four who wait"
done

capture "$SBXCTL" wait nosuchrun22
assert_eq "$rc" 1 "wait for nothing"
