#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 101, 167, 168, 169: a tree that runs already is adopted with threads and descendants, everything that works
# on a run works on it, the record says what is not taken back, and nobody who only attached kills.
. "$(dirname "$0")/../lib/lib.sh"

cleanup() {
	local p
	for p in $(pids_with "$beside") $(pids_with "$cookie"); do kill -KILL "$p"; done
}

beside=$(unique_seconds)
cookie=$(unique_seconds)
sleep "$beside" &

start() { # a root, a child, a grandchild that left the session, an orphan made before
	sh -c "sleep $cookie & setsid sh -c 'sleep $cookie; :' & (sleep $cookie &) ; wait" &
	root=$!
	assert "it runs" wait_until 10 three_with "$cookie"
}
three_with() { [ "$(pids_with "$1" | wc -l)" = 3 ]; }
attach() { # OPTIONS...: $id
	capture "$SBXCTL" attach -p none "$@" "$root"
	[ "$rc" = 0 ] || fail "attach: $err"
	id=$out
}
field() { "$SBXCTL" inspect "$id" | jq -r "$1"; }

# ---- adopted, seen, stopped and continued, let go ---------------------------------------------------------------
start
capture "$SBXCTL" attach -p none "$root"
assert_eq "$rc" 0 "status of attach"
assert_match "$out" '^[a-z2-7]{10}$' "what it prints"
assert_one_line "$err" 'attached to 4 processes, 4 threads; not taken back: open descriptors' "what it says"
id=$out
assert_eq "$(field '[.status.state, .status.root_pid, .status.tree.live, .status.cgroup] | @json')" \
	"[\"running\",$root,4,null]" "its state"
assert_eq "$(field '.meta.result | [.launch, .attached.pid, .attached.processes, .attached.threads] | @json')" \
	"[null,$root,4,4]" "on record"
assert_match "$(field .status.tier)" '^attached at 20[^;]*Z; tracking: ' "the tier sentence"
assert_match "$(field '.meta.result.attached.not_taken_back | join(",")')" 'descriptors.*mappings.*Landlock.*orphans' "said"
assert_match "$("$SBXCTL" ps)" "$id .*running .* 4 " "in ps"
[ "$(uname -r | cut -d. -f1)" -lt 6 ] || assert_ge "$(field .meta.result.attached.descriptors)" 0 "descriptors"

capture "$SBXCTL" attach -p none "$root"
assert_eq "$rc" 1 "status of a second attach"
assert_one_line "$err" "process $root is in run '$id' already" "its line"

stopped() { [ "$(ps -o stat= --ppid "$root" -p "$root" | grep -c T)" -ge 3 ]; }
assert "freeze" "$SBXCTL" freeze "$id"
assert "all are stopped" wait_until 5 stopped
assert "thaw" "$SBXCTL" thaw "$id"
running() { ! ps -o stat= --ppid "$root" -p "$root" | grep -q T; }
assert "all go on" wait_until 5 running

capture "$SBXCTL" update "$id" -m 64M
assert_eq "$rc" 1 "status of a limit"
assert_one_line "$err" 'attached and stays in its own control groups' "why"

capture "$SBXCTL" detach "$id"
assert_eq "$rc$err" 0 "status of detach"
assert "all are alive" three_with "$cookie"
assert_eq "$(jq -c '[.outcome, .killed_by, .tree.killed, .output.stdout.bytes]' "$SBX_RUN_DIR/$id/result.json")" \
	'["detached",null,0,null]' "its result"
assert_eq "$("$SBXCTL" wait "$id"; echo $?)" 0 "status of wait"

# ---- stop, kill: the members and nobody else ---------------------------------------------------------------------
attach
assert "stop" "$SBXCTL" stop -t 1 "$id"
only_one() { [ "$(pids_with "$cookie" | wc -l)" = 1 ]; }
assert "members are gone, the orphan from before is not ours" wait_until 5 only_one
assert_eq "$(jq -r '[.outcome, .killed_by] | @json' "$SBX_RUN_DIR/$id/result.json")" '["stopped","stop"]' "stopped"
kill -KILL "$(pids_with "$cookie")"

start
attach
assert "kill" "$SBXCTL" kill "$id"
assert "killed" wait_until 5 only_one
kill -KILL "$(pids_with "$cookie")"

# ---- the root is the owner: with it goes what it leaves --------------------------------------------------------------
start
attach
kill -TERM "$root"
assert "nothing of it is left" wait_until 5 only_one
assert "it ends" wait_until 5 test -e "$SBX_RUN_DIR/$id/result.json"
assert_eq "$(jq -c '[.outcome, .signal]' "$SBX_RUN_DIR/$id/result.json")" '["signaled",15]' "its own end"
kill -KILL "$(pids_with "$cookie")"

# ---- another owner ------------------------------------------------------------------------------------------------
start
sleep 1000 &
owner=$!
attach --owner $owner
kill -KILL $owner
assert "dies with its owner" wait_until 5 only_one
assert "it ends" wait_until 5 test -e "$SBX_RUN_DIR/$id/result.json"
assert_eq "$(jq -r '[.outcome, .killed_by] | @json' "$SBX_RUN_DIR/$id/result.json")" '["owner_exited","owner"]' "why"
kill -KILL "$(pids_with "$cookie")"

# ---- a deadline; in the foreground, Ctrl-C detaches ----------------------------------------------------------------------
start
attach -t 0.3 -k 0.2
assert "the deadline ends it" wait_until 5 only_one
assert "it ends" wait_until 5 test -e "$SBX_RUN_DIR/$id/result.json"
assert_eq "$(jq -r .killed_by "$SBX_RUN_DIR/$id/result.json")" wall "why"
kill -KILL "$(pids_with "$cookie")"
start
"$SBXCTL" attach -p none --foreground "$root" 2>"$T/err" &
keeper=$!
assert "it says so" wait_until 5 grep -q 'attached to 4' "$T/err"
kill -TERM $keeper
wait $keeper
assert_eq $? 0 "status in the foreground"
assert "all are alive" three_with "$cookie"
assert "beside it all lives" test -n "$(pids_with "$beside")"
