#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A keeper that is SIGKILLed leaves a receipt: its tree dies with it, the next command writes the result that the
# evidence allows, and no group, row or socket stays.
. "$(dirname "$0")/../lib/lib.sh"
need_root

naps=$(unique_seconds)
groups_of() { find /sys/fs/cgroup -name "sbx-$1" 2>/dev/null; }
keeper_of() { "$SBXCTL" inspect "$1" | jq .status.keeper_pid; }

id=$("$SBXCTL" run -p none -d -t 60s -- sh -c 'seq 1 50000; setsid sleep "$0" & exec sleep "$0"' "$naps")
two() { [ "$(pgrep -fxc "sleep $naps")" = 2 ]; }
assert "two sleepers" wait_until 5 two
kill -KILL "$(keeper_of "$id")"
assert "the tree dies without any command of ours" wait_until 2 none_with "$naps"

capture "$SBXCTL" inspect "$id"
assert_eq "$(jq -r '.state, .result, .receipt.signal, .receipt.owner_died' <<<"$out" | paste -sd' ')" "keeper_died null 9 true" "inspect changes nothing"
assert_ne "$(groups_of "$id")" "" "the group waits for the sweep"
capture "$SBXCTL" wait "$id"
assert_eq "$rc" 137 "wait"
assert_eq "$(jq -r '.outcome, .killed_by, .signal, .tree.survivors' "$SBX_RUN_DIR/$id/result.json" | paste -sd' ')" "owner_exited owner 9 0" "result"
assert_eq "$(jq -r '.output.stdout | .bytes, .text, .truncated' "$SBX_RUN_DIR/$id/result.json" | paste -sd' ')" "null null true" "lost output is not an empty one"
assert_match "$(jq -r .tier.sentence "$SBX_RUN_DIR/$id/result.json")" "tracking: bpf"
assert_ne "$(jq -r .times.ended "$SBX_RUN_DIR/$id/result.json")" null "the time of death is on record"
valid_result "$SBX_RUN_DIR/$id/result.json"
assert_eq "$(groups_of "$id")" "" "groups left"
assert "no socket" test ! -e "$SBX_RUN_DIR/$id/sock"
assert_eq "$("$SBXCTL" inspect "$id" | jq .receipt)" null "row left"
# The spill holds a prefix of what was written.
assert "the spill is there" test -s "$SBX_RUN_DIR/$id/stdout.spill"
assert "and true" cmp -n "$(stat -c %s "$SBX_RUN_DIR/$id/stdout.spill")" "$SBX_RUN_DIR/$id/stdout.spill" <(seq 1 50000)

# Killed between a root that had ended and its result: the receipt has the exit code. The keeper is stopped, so the
# root ends unseen.
id=$("$SBXCTL" run -p none -d -- sh -c 'while [ ! -e "$0" ]; do sleep 0.02; done; exit 42' "$T/go")
keeper=$(keeper_of "$id")
kill -STOP "$keeper"
touch "$T/go"
exited() { "$SBXCTL" inspect "$id" | jq -e .receipt.root_exited >/dev/null; }
assert "the receipt comes" wait_until 5 exited
kill -KILL "$keeper"
gone "$keeper" || wait_until 2 gone "$keeper"
capture "$SBXCTL" ps -a
assert_match "$out" "$id +- +exited 42"
capture "$SBXCTL" wait "$id"
assert_eq "$rc" 42 "status from the receipt"

# What was refused to it goes with it.
rows() { find "$SBX_RUN_DIR/bpf" /sys/fs/bpf/sbx -name denials -exec "$AIDS/rows" {} + 2>/dev/null; }
mkdir "$T/home"
naps=$(unique_seconds)
id=$(HOME=$T/home "$SBXCTL" run -p default --net host -d -- sh -c 'echo >/etc/sbx-test; exec sleep "$0"' "$naps")
refused() { "$SBXCTL" why "$id" | grep -q /etc/sbx-test; }
assert "a refusal" wait_until 5 refused
assert_ne "$(rows)" 0 "its row"
kill -KILL "$(keeper_of "$id")"
assert "it is dead" wait_until 2 none_with "$naps"
capture "$SBXCTL" wait "$id"
assert_eq "$(rows)" 0 "rows of refusals"

# A group of the same name and path that is not the one on record is a stranger's.
naps=$(unique_seconds)
id=$("$SBXCTL" run -p none -d -- sleep "$naps")
path=$("$SBXCTL" inspect "$id" | jq -r .status.cgroup)
keeper=$(keeper_of "$id")
kill -KILL "$keeper"
assert "it is dead" wait_until 2 none_with "$naps"
empty() { ! grep -q 'populated 1' "$path/cgroup.events"; }
assert "the group is empty" wait_until 2 empty
rmdir "$path" && mkdir "$path"
stranger_naps=$(unique_seconds)
sleep "$stranger_naps" &
stranger=$!
echo $stranger >"$path/cgroup.procs"
capture "$SBXCTL" ps -a
assert "the stranger lives" alive $stranger
assert_match "$out" "$id +- +owner_exited"
kill $stranger
wait $stranger 2>/dev/null
wait_until 2 empty
rmdir "$path"
# Its v1 groups are found by name alone, so they are ours to remove.
find /sys/fs/cgroup -name "sbx-$id" -delete 2>/dev/null
exit 0
