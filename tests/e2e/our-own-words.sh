#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# DESIGN 8: what we say ourselves: nothing at a good end, one line at a forced one, two more with -v, none with -q; in
# colour when asked, never with anything a command or a caller could smuggle in.
. "$(dirname "$0")/../lib/lib.sh"

sbx_run -- sh -c 'exit 3'
assert_eq "$rc $err" "3 " "words at an end of its own"
sbx_run -t 0.1 -- sleep 1000
assert_one_line "$err" '^sbxctl: wall limit exceeded \(100 ms\) \(run [a-z2-7]{10}, 1 killed\)$' "the line of a forced end"
sbx_run -q -t 0.1 -- sleep 1000
assert_eq "$rc $err" "124 " "words under -q"
sbx_json -t 0.1 -- sleep 1000
assert_eq "$rc $err" "124 " "words under --json"

sbx_run -v -- sh -c 'echo own words >&2; exit 3'
assert_match "$err" '^sbxctl: tracking: [^
]*; kill: [^
]* \(run [a-z2-7]{10}\)
own words
sbxctl: exit 3 after [0-9.]+ s, 1 processes \(run [a-z2-7]{10}\)$' "words under -v"
assert_eq "$(head -n 1 <<<"$err")" "sbxctl: $(result .tier.sentence) (run $(result .id))" "the tier's sentence under -v"
sbx_run -v -- sh -c 'kill -TERM $$'
assert_match "$err" 'sbxctl: SIGTERM after ' "a signal under -v"

red=$'\033'
sbx_run --color always --tree -t 0.1 -- sleep 1000
assert_match "$err" "$red\[31mSIGTERM$red\[0m" "colour in --tree"
assert_match "$err" "sbxctl: $red\[31mwall limit exceeded \(100 ms\)$red\[0m \(run" "colour in the line"
for color in never auto; do
	sbx_run --color $color --tree -t 0.1 -- sleep 1000
	assert_no_match "$err" "$red" "--color $color into a file"
done

# Control characters, in a name that the caller gives and in one that the command gives itself.
sbx_run -- $'no\033[2Jsuch\ncommand'
assert_one_line "$err" '^sbxctl: no\?\[2Jsuch\?command: ' "the line of a name with control characters"
cp "$(command -v sleep)" "$T/"$'\033[2J'
sbx_run --tree -- "$T/"$'\033[2J' 0
assert_match "$err" '^\\x1b\[2J [0-9]+  exit 0' "a name with control characters in --tree"
