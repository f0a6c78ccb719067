#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 3, 15: whatever was refused is a result as well: --result FILE and fd:N hold a valid record of every 125, 126
# and 127, with the words of the line on stderr.
. "$(dirname "$0")/../lib/lib.sh"

refused() { # STATUS ARGUMENTS
	local status=$1
	shift
	keep_result
	capture "$SBXCTL" run --result "$T/result.json" "$@"
	assert_eq "$rc" "$status" "status of: $*"
	assert_eq "$(result '[.schema, .outcome, .exit_code, .signal, .launch] | @json')" '[1,"could_not_run",null,null,null]' "$*"
	assert_one_line "$err" '^sbxctl: .' "the line of: $*"
	assert_eq "sbxctl: $(result .diagnostic)" "$err" "the record's words and the line's"
	assert_eq "$out" "" "stdout of: $*"
}
refused 125 -p none --no-such-option -- true
refused 125 -p none -t never -- true
refused 125 -p none -m 0 -- true
refused 125 -p none
refused 125 -p no-such-profile -- true
refused 125 -p none -u no-such-user -- true
refused 125 -p none --owner 2147483000 -- true
refused 125 -p none -C /nonexistent -- true
refused 125 -p none --disk 16M -- true
refused 125 -p none --net never -- true
refused 126 -p none -- /etc/passwd
refused 127 -p none -- /nonexistent/program

# On a descriptor, as part of the caller's stream; and --json writes to stdout alone.
keep_result
"$SBXCTL" run -p none --result fd:9 -- /nonexistent/program 9>"$T/result.json" 2>/dev/null
assert_eq "$?" 127 "status with fd:9"
assert_result .outcome could_not_run
keep_result
{ "$SBXCTL" run -p none --result fd:9 -- sh -c 'echo inside; ls /proc/self/fd | grep -c 9' 9>"$T/result.json"; } >"$T/out"
assert_eq "$(cat "$T/out")" "inside
0" "output, and descriptor 9 inside"
assert_result .exit_code 1
keep_result
capture "$SBXCTL" run -p none --json -t never -- true
assert_eq "$rc" 125 "status with --json"
cp "$T/out" "$T/result.json"
assert_result .outcome could_not_run

# An option after the fault is still an order: the record is wanted for exactly such ends.
keep_result
capture "$SBXCTL" run -p none --no-such-option --result "$T/result.json" -- true
assert_result .outcome could_not_run
keep_result
capture "$SBXCTL" run -p none -t never --result="$T/result.json" -- true
assert_result .outcome could_not_run
capture "$SBXCTL" run -p none --no-such-option -- true --result "$T/not-ours.json"
assert "words of the command are none of ours" test ! -e "$T/not-ours.json"

# Where it goes is replaced as a whole, or written through when it is no file.
echo old >"$T/real" && ln -s real "$T/link" && mkfifo "$T/fifo"
capture "$SBXCTL" run -p none --result "$T/link" -- true
assert_eq "$rc $(jq -r .outcome "$T/link")" "0 exited" "through a link"
cat "$T/fifo" >"$T/through" &
capture "$SBXCTL" run -p none --result "$T/fifo" -- true
wait $!
assert_eq "$rc $(jq -r .outcome "$T/through")" "0 exited" "into a fifo"
assert "the fifo is still one" test -p "$T/fifo"
capture "$SBXCTL" run -p none --result /dev/null -- true
assert "/dev/null is still a device" test -c /dev/null

# Where it could not be written nothing runs; where that shows only at the end, success is not what is reported.
refused_place() { # REGEX PLACE
	capture "$SBXCTL" run -p none --result "$2" -- touch "$T/ran"
	assert_eq "$rc" 125 "status with --result $2"
	assert_one_line "$err" "^sbxctl: --result $2: $1" "its line"
	assert "nothing ran" test ! -e "$T/ran"
}
refused_place "No such file" "$T/nowhere/result.json"
refused_place "Not a directory" "$T/result.json/below"
refused_place "Is a directory" "$T"
refused_place "Is a directory" "$T/"
refused_place "Bad file descriptor" fd:17
refused_place "Bad file descriptor" fd:0 </dev/null
for wanted in 0:1 3:3; do
	mkdir "$T/vanishes"
	capture "$SBXCTL" run -p none --result "$T/vanishes/result.json" -- sh -c "rmdir '$T/vanishes'; exit ${wanted%:*}"
	assert_eq "$rc" "${wanted#*:}" "status when the result cannot be written"
	assert_one_line "$err" "^sbxctl: --result $T/vanishes/result.json: No such file" "its line"
done
