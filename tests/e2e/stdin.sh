#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 40: stdin is /dev/null unless it was asked for, so nobody's list or open pipe is eaten; asked for, it is the
# caller's, or a file.
. "$(dirname "$0")/../lib/lib.sh"

printf 'one\ntwo\nthree\n' >"$T/list"

# A loop keeps its list.
seen=
while read -r line; do
	"$SBXCTL" run -p none -- cat >"$T/out" </dev/stdin || fail "status $?"
	assert_eq "$(stat -c %s "$T/out")" 0 "bytes that cat read"
	seen+="$line "
done <"$T/list"
assert_eq "$seen" "one two three " "what the loop read"

# A pipe that nobody writes to does not hold it.
mkfifo "$T/open"
exec 8<>"$T/open"
capture "$SBXCTL" run -p none -t 20 -- cat <&8
assert_eq "$rc $out" "0 " "cat without stdin"
assert_eq "$(readlink /proc/self/fd/8)" "$T/open" "the caller's pipe"
exec 8<&-

for option in -i --stdin --stdin=inherit; do
	capture "$SBXCTL" run -p none $option -- cat <"$T/list"
	assert_eq "$rc $out" "0 $(cat "$T/list")" "$option"
done
seq 1 200000 >"$T/many"
"$SBXCTL" run -p none -i -- sha256sum <"$T/many" >"$T/out"
assert_eq "$(cut -d' ' -f1 "$T/out")" "$(sha256sum <"$T/many" | cut -d' ' -f1)" "a megabyte through -i"
capture "$SBXCTL" run -p none --stdin="$T/list" -- sort </dev/null
assert_eq "$rc $out" "0 $(sort "$T/list")" "--stdin=FILE"

# Who does not read does not block us, however much there is.
sbx_run -i -t 20 -- true < <(yes)
assert_eq "$rc" 0 "a command that reads nothing of an endless stdin"
assert_le "$took_ms" "$(slow_ms 3000)" "milliseconds"

sbx_run --stdin="$T/nowhere" -- cat
assert_eq "$rc" 125 "status with a stdin that is not there"
assert_one_line "$err" "^sbxctl: --stdin $T/nowhere: No such file or directory" "the line that names it"

sbx_run -- sh -c 'readlink /proc/self/fd/0' </dev/zero
assert_eq "$out" /dev/null "stdin inside"
capture "$SBXCTL" run -p none -- sh -c 'readlink /proc/self/fd/0' <&-
assert_eq "$rc $out" "0 /dev/null" "stdin inside, when the caller has none"
