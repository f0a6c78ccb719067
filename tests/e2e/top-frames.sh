#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sbxtop's frames tell the truth: every live run with its processes and figures, what nobody told as unknown, a silent
# keeper as silent, and to another user only his own. Killing it changes nothing.
. "$(dirname "$0")/../lib/lib.sh"
need_root
top=$LIB_ROOT/$BUILD/sbxtop
naps=$(unique_seconds)
sleeper() { pgrep -fx "sleep $naps" >/dev/null; }
frame() { "$top" --once --json "$@" >"$T/frame"; }
run_of() { jq -r --arg id "$1" ".runs[] | select(.id == \$id) | $2" "$T/frame"; } # ID FILTER

# Nothing is loaded for a look.
capture "$top" --once
assert_eq "$rc" 0 "a look where nothing is"
assert_match "$out" "^0 runs"
[ ! -e "$SBX_RUN_DIR/bpf" ] || fail "a look has mounted a bpffs"

id=$("$SBXCTL" run -p none -d --name shown -t 60s -m 64M -- sh -c "echo 12345; setsid sleep $naps & sleep $naps; :")
assert "the run lives" wait_until 5 sleeper
other=$("$SBXCTL" run -p none -d -t 60s -- sleep "$naps")

frame
assert_eq "$(run_of "$id" '.name, .state, .owner_uid, .processes, .memory_max_bytes, .output_bytes' | paste -sd' ')" \
	"shown running 0 3 67108864 6" "figures"
assert_eq "$(run_of "$id" '[.tree[] | "\(.depth) \(.comm)"] | join(", ")')" "0 sh, 1 sleep, 1 sleep" "the tree"
assert_eq "$(run_of "$id" '.unknown | index("output_bytes"), index("owner_uid"), index("tier")' | paste -sd' ')" "null null null" "known"
assert_eq "$(run_of "$id" .tier)" "$("$SBXCTL" inspect "$id" | jq -r 'if any(.status.clauses[]; .capability == "lsm_enforcement" and .enforced) then "A" else "B" end')" "tier"
assert_le "$(run_of "$id" .deadline_left_ns)" 60000000000 "time left"
assert_eq "$(run_of "$other" .state)" running "the other one"
capture "$top" --once
assert_match "$out" "$id +shown +running +[AB] +root"
assert_match "$out" "└ sh"

# One run only; a sum that does not count the others.
frame --id "${id:0:8}"
assert_eq "$(jq -r '.runs | length' "$T/frame")" 1 "--id"
frame --scope nobody
assert_eq "$(jq -r '.runs | length' "$T/frame")" 0 "--scope"
frame --filter "sleep $naps"
assert_eq "$(jq -r '.runs | length' "$T/frame")" 2 "--filter"

# A changed deadline, a frozen tree.
"$SBXCTL" update "$id" -t 1h
"$SBXCTL" freeze "$id"
frame
assert_ge "$(run_of "$id" .deadline_left_ns)" 3000000000000 "the new deadline"
assert_eq "$(run_of "$id" .state)" frozen "frozen"
"$SBXCTL" thaw "$id"

# Rates, and frames one after the other.
capture "$top" --json -n 2 -d 0.3
assert_eq "$(jq -s 'length' "$T/out")" 2 "two frames"
assert_eq "$(jq -s --arg id "$id" '.[1].runs[] | select(.id == $id) | .cpu_permille | type' "$T/out")" '"number"' "CPU between two looks"
capture "$top" -bn2 -d0.1
assert_eq "$(grep -c '^ID ' "$T/out")" 2 "two frames as text"

# A stopped keeper: what the kernel knows is shown, what it alone knows is not made up.
keeper=$("$SBXCTL" inspect "$other" | jq .status.keeper_pid)
kill -STOP "$keeper"
capture "$top" --json -n 4 -d 0.8
kill -CONT "$keeper"
assert_eq "$(tail -n 1 "$T/out" | jq -r --arg id "$other" '.runs[] | select(.id == $id) | .state, .processes, .output_bytes' | paste -sd' ')" \
	"silent 1 null" "behind a stopped keeper"
assert_le "$took_ms" "$(slow_ms 6000)" "four frames beside a stopped keeper"

# Killed: the runs live on. And the tree that was killed behind our back is gone from the list.
"$top" --json -d 0.2 >"$T/frames" &
watcher=$!
assert "it shows frames" wait_until 5 test -s "$T/frames"
kill -KILL $watcher
wait $watcher 2>/dev/null
assert_eq "$("$SBXCTL" inspect "$id" | jq -r .status.state)" running "after sbxtop was killed"
pkill -KILL -fx "sleep $naps"
gone_from_frame() { frame && ! grep -q "$id" "$T/frame"; }
assert "what has ended leaves the list" wait_until 5 gone_from_frame

capture "$top" --nonce
assert_eq "$rc" 2 "misuse"
assert_one_line "$err" "did you mean --once"
capture "$top" -d 1ms
assert_match "$err" "at least 100ms"
capture "$top" --sort memry
assert_match "$err" "did you mean memory"
