#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stdin stays the caller's unless -i passes it: a shell loop keeps its list, and a terminal hears why nothing arrived.
. "$(dirname "$0")/../lib/lib.sh"
need_root
printf 'one\ntwo\nthree\n' >"$T/list"

while read -r x; do
	"$SBXCTL" run -p none -- sh -c 'cat; echo "did $0"' "$x"
done <"$T/list" >"$T/out" 2>"$T/err"
assert_eq "$(cat "$T/out")" $'did one\ndid two\ndid three' "the loop"
assert_eq "$(cat "$T/err")" "" "stderr without a terminal"

assert_eq "$("$SBXCTL" run -p none -i -- cat <"$T/list")" $'one\ntwo\nthree' "what -i passes"

term_start
term_run "cd '$T'; \$SBXCTL run -p none -- cat <list"
term_expect '^sbxctl: .*-i'
term_run "clear; \$SBXCTL run -p none -i -- cat <list"
term_expect '^three'
term_shows '^sbxctl: ' && fail "a note although -i was given"
exit 0
