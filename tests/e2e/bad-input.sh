#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 15: bad input is refused before anything is made, in one line that names it, with status 125.
. "$(dirname "$0")/../lib/lib.sh"

need_root
# A run directory that does not exist yet: a refusal must not even make that. The control groups, mounts and
# processes of a test are counted by the suite.
usual=$SBX_RUN_DIR
export SBX_RUN_DIR=$T/fresh

refused() { # REGEX ARGUMENTS OF RUN...
	local regex=$1
	shift
	rm -f "$T/ran"
	capture "$SBXCTL" run "$@"
	assert_eq "$rc" 125 "status of: ${*:0:3}"
	assert_one_line "$err" "$regex" "the line"
	assert_eq "$out" "" "nothing on stdout"
	assert "nothing ran" test ! -e "$T/ran"
	assert "nothing was made" test ! -e "$SBX_RUN_DIR"
}

touch=(touch "$T/ran")
refused '-p none' "${touch[@]}"
refused '--timout: unknown option; did you mean --timeout\?' -p none --timout 5 "${touch[@]}"
refused '-t 5 parsecs: not a duration' -p none -t '5 parsecs' "${touch[@]}"
refused '-m 1X: not a size' -p none -m 1X "${touch[@]}"
refused '--memory: given twice' -p none -m 1G --memory 2G "${touch[@]}"
refused "--pids 0: .*'none'" -p none --pids 0 "${touch[@]}"
refused "-t -1: .*'none'" -p none -t -1 "${touch[@]}"
refused '--cpus 99999999999999999999: out of range' -p none --cpus 99999999999999999999 "${touch[@]}"
refused '--ro: file policy is not in this build' -p none --ro / "${touch[@]}"
refused '--net: network policy is not in this build' -p none --net none "${touch[@]}"
refused 'no command' -p none
refused 'no command' -p none --
refused 'name is empty' -p none ''
refused '--name .*: not a name' -p none --name $'a\xff' "${touch[@]}"
refused '-q and -v contradict' -p none -qv "${touch[@]}"
# 5 MiB of arguments: as much as a kernel hands over at all.
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)"
word=$(printf 'x%.0s' {1..100000})
many=()
for _ in {1..50}; do many+=("$word"); done
refused 'arguments are [0-9]* bytes' -p none "${touch[@]}" "${many[@]}"
# As many short ones.
mapfile -t many < <(seq 100000)
refused '100002 arguments' -p none "${touch[@]}" "${many[@]}"

# What only the start can find out leaves no run either.
export SBX_RUN_DIR=$usual
sbx_run true
assert_eq "$rc" 0 "status of a good run"
runs=$("$SBXCTL" ps -a | wc -l)
for bad in "-C /no/such/directory" "--stdin=/no/such/file" "--owner 4194304"; do
	# shellcheck disable=SC2086
	capture "$SBXCTL" run -p none $bad "${touch[@]}"
	assert_eq "$rc" 125 "status of $bad"
	assert_one_line "$err" "${bad#*[ =]}" "the line of $bad"
	assert "nothing ran" test ! -e "$T/ran"
	assert_eq "$("$SBXCTL" ps -a | wc -l)" "$runs" "runs after $bad"
done
