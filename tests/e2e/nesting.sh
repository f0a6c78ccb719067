#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 150
# Contracts 20, 103: a run inside a run: the inner one has its own status, limits and record; killing the middle one
# leaves the outer alive, and nothing inner outlives it.
. "$(dirname "$0")/../lib/lib.sh"

inner="$SBXCTL run -p none -e SBX_RUN_DIR"

# shellcheck disable=SC2086
sbx_run -e SBX_RUN_DIR -- $inner -- $inner -- sh -c 'echo deep; exit 9'
assert_eq "$rc $out" "9 deep" "status and output through three levels"
assert_ge "$(result .tree.processes)" 3 "processes that the outer one counts"

# Each level's ids differ, and each leaves its record.
sbx_run -e SBX_RUN_DIR -- sh -c "echo \$SBX_ID; $inner -- sh -c 'echo \$SBX_ID'"
assert_eq "$(sort -u <<<"$out" | wc -l)" 2 "ids of two levels"
for id in $out; do
	assert "a record of $id" test -e "$SBX_RUN_DIR/$id/result.json"
done

# Three levels; the middle keeper is SIGKILLed, then the outer one ends.
a=$(unique_seconds) b=$(unique_seconds) c=$(unique_seconds)
cat >"$T/three" <<-END
	$inner -- sh -c "$inner -- sh -c 'setsid sleep $c & sleep $c' & echo \\\$! >$T/inner; sleep $b" &
	echo \$! >$T/middle
	sleep $a
END
"$SBXCTL" run -p none -e SBX_RUN_DIR --result "$T/result.json" -- sh "$T/three" >/dev/null 2>&1 &
outer=$!
sleeps() { [ "$(pids_with "$1" | grep -c .)" = "$2" ]; }
assert "all three levels run" wait_until 20 sleeps "$c" 2
assert "the middle runs" wait_until 5 sleeps "$b" 1
kill -KILL "$(cat "$T/middle")"
assert "the inner level dies with the middle one" wait_until 5 none_with "$c"
assert "the middle level is dead" wait_until 5 none_with "$b"
assert "the outer level lives" sleeps "$a" 1
kill -TERM $outer
wait $outer
assert_eq $? 143 "status of the outer one"
assert "the outer level is dead" none_with "$a"

# The other way round: the outer deadline takes all levels, whatever the inner ones were promised.
sbx_run -e SBX_RUN_DIR -t 0.5 -k none -- sh -c "$inner -t 100 -- sh -c '$inner -t 100 -- setsid -w sleep $c'"
assert_eq "$rc $(result .tree.survivors)" "124 0" "the outer deadline"
assert "nothing inner is left" none_with "$c"
"$SBXCTL" ps >/dev/null

# As deep as it goes, and no deeper; the refusal names the bound.
deep=
for _ in 2 3 4 5 6 7 8; do deep="$deep $inner --"; done
# shellcheck disable=SC2086
sbx_run -e SBX_RUN_DIR -- $deep sh -c "echo eighth; $inner -- true"
assert_eq "$rc $out" "125 eighth" "the ninth level"
assert_match "$err" 'sandboxes can be nested 8 deep' "its refusal"

# Each level has a record of its own, which says that it ended with the one around it: at the outer deadline, told to or
# killed, and by order. The outermost bounds what an inner one is promised.
record_of() { # NAME
	grep -lE "\"name\": *\"$1\"" "$SBX_RUN_DIR"/??????????/result.json
}
ancestor() { # WHAT
	local name
	for name in middle inmost; do
		assert "a record: $name, $1" test -s "$(record_of $name)"
		assert_eq "$(jq -r '[.killed_by, .tree.survivors] | @json' "$(record_of $name)")" '["ancestor",0]' "$name, $1"
		valid_result "$(record_of $name)"
		rm -r "$(dirname "$(record_of $name)")"
	done
}
three="$inner -t 100 --name middle -- $inner -t 100 --name inmost -- "
started=$(date +%s%N)
# shellcheck disable=SC2086
sbx_run -e SBX_RUN_DIR -- $three true
deadline=$((($(date +%s%N) - started) / 250000 + 300)) # four times as long as all three levels take to start
forget() { # what is on record of the inner levels
	local record
	for record in $(record_of middle) $(record_of inmost); do rm -r "$(dirname "$record")"; done
}
all_started() { [ -s "$(record_of inmost)" ] && [ "$(jq -r .limits.wall.origin "$(record_of inmost)")" != waived ]; }
at_the_deadline() { # GRACE_MS COMMAND...; another time as long when the machine was too slow for all levels to start
	local grace=$1
	shift
	until
		forget
		# shellcheck disable=SC2086
		sbx_run -e SBX_RUN_DIR -t "${deadline}ms" -k "${grace}ms" -- $three "$@"
		all_started || [ "$deadline" -gt 30000 ]
	do
		deadline=$((deadline * 2))
	done
}
at_the_deadline "$(slow_ms 500)" sleep "$c"
assert_eq "$rc $(result .killed_by)" "124 wall" "an outer deadline with a grace"
assert_eq "$(jq -r '.limits.wall.origin' "$(record_of inmost)")" inherited "the inmost deadline"
assert_le "$(jq -r '.limits.wall.value' "$(record_of inmost)")" "${deadline}000000" "the inmost deadline"
ancestor "at a deadline with a grace"
at_the_deadline "$(slow_ms 300)" sh -c 'trap "" TERM; sleep '"$c; sleep $c"
assert_eq "$rc $(result .killed_by)" "124 wall" "an outer deadline over deaf levels"
ancestor "at a deadline over deaf levels"
for order in stop kill; do
	"$SBXCTL" run -p none -e SBX_RUN_DIR --name outer -d -- $three sleep "$c" >/dev/null
	assert "three levels run" wait_until 20 eval '[ "$(pgrep -fxc "sleep $c")" = 1 ]'
	"$SBXCTL" $order outer
	wait_until 5 eval '[ -s "$(record_of inmost)" ]'
	ancestor "$order"
done
"$SBXCTL" ps >/dev/null
