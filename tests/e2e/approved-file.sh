#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 47: what runs is the file that was checked: renaming another one over it between check and exec changes
# nothing. strace holds the child at the very exec.
. "$(dirname "$0")/../lib/lib.sh"

need strace
sbx_run -- true # loads the kernel half, which forks children of its own
# Two programs of the same name that tell which one they are.
for which in approved other; do
	mkdir "$T/$which"
	cp "$(command -v bash)" "$T/$which/program"
done
mkdir "$T/bin"

held() { # SCRIPT: run $T/bin/program while another file is renamed over it during its exec
	cp "$T/approved/program" "$T/bin/program"
	cp "$T/other/program" "$T/bin/next"
	approved=$(stat -c %i "$T/bin/program")
	rm -f "$T/trace"
	keep_result
	strace -f -o "$T/trace" -e trace=execveat -e inject=execveat:delay_enter=700000 \
		"$SBXCTL" run -p none --result "$T/result.json" -- "$T/bin/program" -c "$1" >"$T/out" 2>"$T/err" &
	tracer=$!
	assert "the exec is held" wait_until 30 exec_is_held
	mv "$T/bin/next" "$T/bin/program"
	wait $tracer
	rc=$?
}
exec_is_held() { # execveat(2) is 322 on x86-64, 281 on arm64
	local keeper child
	keeper=$(pgrep -P $tracer -x sbxctl | head -n 1)
	[ -n "$keeper" ] || return
	for child in $(pgrep -P "$keeper"); do
		grep -qE '^(322|281) ' "/proc/$child/syscall" 2>/dev/null && return
	done
	return 1
}

# shellcheck disable=SC2016
held 'stat -L -c %i /proc/$$/exe; exit 5'
grep -q execveat "$T/trace" || fail "the exec was not seen, so not held: $(cat "$T/trace")"
assert_eq "$rc" 5 "status"
assert_ne "$(stat -c %i "$T/bin/program")" "$approved" "the file that now has the name"
assert_eq "$(cat "$T/out")" "$approved" "the inode that runs"
assert_result .launch inode

# And in a race that nobody holds: every run is one of the two, whole.
cp "$T/approved/program" "$T/bin/program"
while :; do
	cp "$T/other/program" "$T/bin/next" && mv "$T/bin/next" "$T/bin/program"
done 2>/dev/null &
racer=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	capture "$SBXCTL" run -p none -- "$T/bin/program" -c 'exit 6'
	[ "$rc" = 6 ] || break
done
kill $racer
assert_eq "$rc" 6 "status in the race"
