#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `ps` shows live runs, `ps -a` ended ones too, as a table and as JSON; nothing a run chose steers the terminal.
. "$(dirname "$0")/../lib/lib.sh"
need_root

naps=$(unique_seconds)
sleeper() { pgrep -fx "sleep $naps"; }
id=$("$SBXCTL" run -p none -d --name lister -t 60s -- sleep "$naps")
assert "the run lives" wait_until 5 sleeper

capture "$SBXCTL" ps
assert_eq "$rc" 0 "ps"
assert_match "$out" "^ID +NAME +STATE +AGE +PROCS +CPU +MEM +DEADLINE +COMMAND"
assert_match "$out" "$id +lister +running .* sleep $naps"

capture "$SBXCTL" ps --json
assert_eq "$(jq -r '.[] | select(.name == "lister") | .id, .state, .processes' <<<"$out" | paste -sd' ')" "$id running 1" "ps --json"
assert_ge "$(jq -r '.[] | select(.name == "lister") | .deadline_left_ns' <<<"$out")" 1000000000 "time left"

capture "$SBXCTL" inspect lister
assert_eq "$(jq -r '.state, .status.root_pid, .result' <<<"$out" | paste -sd' ')" "live $(sleeper) null" "inspect"

capture "$SBXCTL" kill lister
assert_eq "$rc" 0 "kill by name"
capture "$SBXCTL" ps
assert_no_match "$out" "$id"
capture "$SBXCTL" ps -a
assert_match "$out" "$id +lister +stopped terminate .* sleep $naps"
capture "$SBXCTL" inspect "$id"
assert_eq "$(jq -r '.state, .result.killed_by, .meta.argv[0]' <<<"$out" | paste -sd' ')" "ended terminate sleep" "inspect of an ended run"

# A name is for the living; a unique prefix always does; two candidates are named.
capture "$SBXCTL" inspect lister
assert_eq "$rc" 1 "the name of an ended run"
assert_match "$err" "no run 'lister'"
capture "$SBXCTL" inspect "${id:0:6}"
assert_eq "$rc" 0 "unique prefix"
mkdir "$SBX_RUN_DIR/aaaaaaaaa2" "$SBX_RUN_DIR/aaaaaaaaa3"
capture "$SBXCTL" inspect aaaaaaa
assert_eq "$rc" 1 "ambiguous prefix"
assert_match "$err" "ambiguous: aaaaaaaaa., aaaaaaaaa."
rmdir "$SBX_RUN_DIR"/aaaaaaaaa?

# What a command is called cannot move a cursor or lie about its direction.
"$SBXCTL" run -p none -- sh -c ': ' $'\033[2J\033]0;owned\a' $'\xe2\x80\xaegnp.exe'
capture "$SBXCTL" ps -a
assert_no_match "$out" $'\033'
assert_match "$out" 'x1b\[2J'
assert_match "$out" 'u202e'

capture "$SBXCTL" ps --colour
assert_eq "$rc" 2 "unknown option"
assert_match "$err" "did you mean --color"

# Two live runs never share a name.
naps=$(unique_seconds)
"$SBXCTL" run -p none -d --name twin -- sleep "$naps" >/dev/null
capture "$SBXCTL" run -p none --name twin -- echo ran
assert_eq "$rc:$out" "125:" "a second run of the same name"
assert_match "$err" "already has the name 'twin'"
"$SBXCTL" kill twin
capture "$SBXCTL" run -p none --name twin -- echo ran
assert_eq "$rc:$out" "0:ran" "the name of an ended run is free"

# Nor do runs that start at the same time.
for i in 1 2 3 4 5 6 7 8; do
	("$SBXCTL" run -p none -d --name race -- sleep "$naps" 2>/dev/null && echo "$i" >>"$T/won") &
done >/dev/null
wait
assert_eq "$(wc -l <"$T/won")" 1 "how many of eight got the name"
capture "$SBXCTL" kill race
assert_eq "$rc" 0 "kill by that name"

# A name that some id happens to begin with is still the name.
id=$("$SBXCTL" run -p none -d -- sleep "$naps")
named=$("$SBXCTL" run -p none -d --name "${id:0:4}" -- sleep "$naps")
capture "$SBXCTL" kill "${id:0:4}"
assert_eq "$rc" 0 "kill by a name that is a prefix of another id"
assert_eq "$("$SBXCTL" ps --json | jq -r '.[].id')" "$id" "who lives"
assert_ne "$named" "$id" "ids"
"$SBXCTL" kill "$id"
