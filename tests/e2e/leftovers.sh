#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# Contract 25: what outlives the command is killed and counted, or waited for, or left to end by itself, as asked; none of
# it holds the call open unasked.
. "$(dirname "$0")/../lib/lib.sh"

cookie=$(unique_seconds)
limit=$(slow_ms 2000)

sbx_run -- sh -c "sleep $cookie & setsid sleep $cookie & echo hi; exit 3"
assert_eq "$rc $out" "3 hi" "kill, the default: status and output"
assert_le "$took_ms" "$limit" "milliseconds"
assert "the leftovers are gone" none_with "$cookie"
assert_eq "$(result '[.outcome, .exit_code, .tree.killed, .tree.survivors] | @json')" '["exited",3,2,0]' "kill"

sbx_run --leftovers wait -- sh -c "(sleep 0.4; echo late; exit 9) & echo early; exit 4"
assert_eq "$rc $out" "4 early
late" "wait: status is the root's, output everyone's"
assert_eq "$(result '[.exit_code, .tree.killed] | @json')" '[4,0]' "wait"
assert_ge "$(result .times.wall_ns)" 400000000 "nanoseconds of wait"
sbx_run --leftovers wait -t 0.5 -k none -- sh -c "sleep $cookie & exit 4"
assert_eq "$rc $(result '[.killed_by, .exit_code] | @json')" '124 ["wall",4]' "wait, bounded by the deadline"
assert "the leftovers are gone" none_with "$cookie"

# keep: back at the root's end, with nobody's pipe held; the rest lives on, supervised, and ends by itself or by order.
begin=$(date +%s%N)
shown=$("$SBXCTL" run -p none --leftovers keep --name kept -- sh -c "echo hi; sleep $cookie & exit 5")
rc=$?
assert_eq "$rc $shown" "5 hi" "keep: status and output"
assert_le $((($(date +%s%N) - begin) / 1000000)) "$limit" "milliseconds of keep"
assert_eq "$(pids_with "$cookie" | wc -l)" 1 "leftovers that live"
id=$("$SBXCTL" ps --json | jq -r '.[] | select(.name == "kept") | .id')
assert_match "$id" '^[a-z2-7]{10}$' "the id of what was kept"
assert "stop ends it" "$SBXCTL" stop kept
assert "the leftovers are gone" none_with "$cookie"
cp "$SBX_RUN_DIR/$id/result.json" "$T/result.json"
assert_eq "$(result '[.exit_code, .tree.survivors] | @json')" '[5,0]' "its result"

"$SBXCTL" run -p none --leftovers keep --result "$T/kept.json" -- sh -c "(sleep 0.5; exit 7) & exit 6"
assert_eq "$?" 6 "status of a run whose leftover ends by itself"
assert "the result comes when it has ended" wait_until 10 test -s "$T/kept.json"
assert_eq "$(jq -c '[.outcome, .exit_code, .tree.killed, .tree.processes]' "$T/kept.json")" '["exited",6,0,3]' "its result"

# What was kept is a run like any other: its deadline counts on, it dies with its owner, by default whoever called, and
# what it writes behind everybody's back is in its logs.
keep() { # OPTIONS: leaves a background member, name `kept`
	"$SBXCTL" run -p none --leftovers keep --name kept "$@" -- sh -c "(sleep 0.3; echo late; exec sleep $cookie) & exit 5"
}
ended() { # KILLED_BY
	wait_until 60 eval '[ -s "$T/kept.json" ]' || fail "no result: kept, $1"
	assert "the leftovers are gone: $1" none_with "$cookie"
	assert_eq "$(jq -r '[.killed_by, .exit_code, .tree.survivors] | @json' "$T/kept.json")" "[\"$1\",5,0]" "kept: $1"
	assert_eq "$(jq -r .output.stdout.text "$T/kept.json")" late "what it wrote after the return"
	rm "$T/kept.json"
}
rm "$T/kept.json"
keep --result "$T/kept.json" -t "$(slow_ms 500)ms" -k none
assert_eq $? 5 "status of what is kept until its deadline"
ended wall
sleep 1000 &
keep --result "$T/kept.json" --owner $!
assert "its output comes" wait_until 10 eval '[ "$("$SBXCTL" logs kept)" = late ]'
kill -KILL $!
ended owner
mkfifo "$T/go"
export -f keep
export T cookie
bash -c 'keep --result "$T/kept.json"; read -r _ <"$T/go"' &
assert "its output comes" wait_until 10 eval '[ "$("$SBXCTL" logs kept 2>/dev/null)" = late ]'
echo >"$T/go"
ended owner
