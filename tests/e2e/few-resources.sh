#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 1, 117: a caller with few descriptors or a small file limit gets its command or one line that says what was
# missing; whatever went wrong, nothing is left and nobody else's live run loses its kernel half.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/inventory.sh"

cookie=$(unique_seconds)
"$SBXCTL" run -p none --workdir new -- true || fail "a first run"
"$SBXCTL" run -p none -q -- sh -c "touch '$T/up'; setsid sleep $cookie & exec sleep $cookie" &
keeper=$!
assert "a run of somebody else" wait_until 10 test -e "$T/up"
sleep 0.1
inventory | sort >"$T/before"

worked=0
for options in "" "-m 64M --pids 50 --private-tmp -t 20" "--pid-ns on --workdir new"; do
	for ((n = 3; n <= 48; n += 1)); do
		# shellcheck disable=SC2086
		capture bash -c "ulimit -n $n; exec \"\$@\"" _ "$SBXCTL" run -p none $options -- sh -c 'exit 7'
		case $rc in
		7) ((worked += 1)) ;;
		*)
			assert_eq "$rc" 125 "status with $n descriptors and $options: $err"
			assert_one_line "$err" 'Too many open files|out of descriptors' "the line with $n descriptors"
			;;
		esac
	done
done
assert_ge $worked 3 "runs that had enough"
assert_inventory "$T/before" "with too few descriptors"

# ulimit -f bounds the files of the keeper as well: an error with a name, not its death. Into pipes, which have no size.
small() { # KIB ARGUMENTS
	bash -c 'ulimit -f "$0"; exec "$@"' "$1" "$SBXCTL" run -p none "${@:2}"
}
err=$(small 0 -- echo hi 2>&1)
assert_eq "$?" 125 "status with ulimit -f 0"
assert_one_line "$err" 'File too large' "its line"
keep_result
small 64 --json -- sh -c 'head -c 20000000 /dev/zero; exit 3' | cat >"$T/result.json"
assert_eq "${PIPESTATUS[0]} $(result .killed_by)" "137 output" "captured output that may not be spilled"
assert_match "$(result .diagnostic)" 'spill: File too large' "its diagnostic"
small 64 -- sh -c 'head -c 20000000 /dev/zero; ulimit -f; exit 3' | wc -c >"$T/count"
assert_eq "${PIPESTATUS[0]} $(cat "$T/count")" "3 20000004" "output that is passed on, and the command's own limit"
assert_inventory "$T/before" "with a small file limit"

# The other run is still tracked: its keeper's death is its tree's.
kill -KILL $keeper
wait $keeper 2>/dev/null
assert "the other run's tree dies with its keeper" wait_until 5 none_with "$cookie"
inventory_sweep "$SBXCTL"
