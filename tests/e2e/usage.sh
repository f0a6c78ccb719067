#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sbxctl says what it can do, names what it does not know, and tells misuse (2, and 125 for run) from failure.
. "$(dirname "$0")/../lib/lib.sh"

sbxctl() { capture "$SBXCTL" "$@"; }

sbxctl
assert_eq "$rc" 2 "status without a command"
assert_match "$err" 'usage: sbxctl COMMAND' "usage on stderr"
sbxctl --help
assert_eq "$rc" 0 "status of --help"
commands=$(awk '/^  [a-z]/ { print $1 }' "$T/out")
assert_match "$commands" 'run' "the list of commands"
sbxctl --version
assert_match "$rc $out" '^0 sbxctl [0-9]+\.[0-9]+\.[0-9]+$' "the version"

# Whatever is on the list explains itself, in both ways, and refuses nonsense.
for command in $commands; do
	sbxctl help "$command"
	assert_eq "$rc" 0 "status of help $command"
	assert_match "$out" "^usage: sbxctl $command" "help $command"
	first=$out
	sbxctl "$command" --help
	assert_eq "$rc $out" "0 $first" "$command --help"
	[ "$command" != help ] || continue
	sbxctl "$command" --no-such-option
	misuse=2
	[ "$command" != run ] || misuse=125
	assert_eq "$rc" "$misuse" "status of $command --no-such-option"
	assert_one_line "$err" 'no-such-option' "the line of $command --no-such-option"
done

sbxctl psx
assert_eq "$rc $err" "2 sbxctl: psx: no such command; did you mean ps?" "a typo"
sbxctl $'a\e[31m\nb'
assert_eq "$rc" 2 "status of a hostile name"
assert_no_match "$err" $'\e' "a hostile name"
sbxctl help nothing-like-it
assert_eq "$rc" 2 "help for what is not there"

# Our own output is ours to account for.
"$SBXCTL" help run >/dev/full 2>"$T/err"
assert_eq "$?" 1 "status with a full disk under stdout"
assert_match "$(cat "$T/err")" 'No space left' "the line about it"

# A closed standard descriptor must not be taken by a file of ours.
"$SBXCTL" help >"$T/out" 2>&-
assert_eq "$?" 0 "status with stderr closed"
"$SBXCTL" help <&- >&- 2>&-
assert_eq "$?" 0 "status with all of them closed"
