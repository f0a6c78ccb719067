#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 49: --mount shows a directory or a file at another place, read-only when asked, below the private /tmp too,
# gone with the run; what cannot be provided is refused and nothing is run.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"

need_root
mkdir "$T"/{source,target}
echo content >"$T/source/file"
sbx_run -- true # loads the kernel half, whose pins stay
before=$(grep -c . /proc/self/mountinfo)

sbx_run --mount "$T/source:$T/target" -- sh -c 'cat "$1/target/file"; echo new >"$1/target/made"' sh "$T"
assert_eq "$rc $out" "0 content" "what is seen at the target"
assert_eq "$(cat "$T/source/made")" new "what was written there"
[ -z "$(ls "$T/target")" ] || fail "the target has something outside: $(ls "$T/target")"
assert_eq "$(grep -c . /proc/self/mountinfo)" "$before" "mounts afterwards"

sbx_run --mount "$T/source:$T/target:ro" -- sh -c 'cat "$1/target/file"; : >"$1/target/other"' sh "$T"
assert_eq "$out" content "what is seen at a read-only target"
assert_ne "$rc" 0 "writing to it"
assert_match "$err" "Read-only file system" "what the writer is told"
[ ! -e "$T/source/other" ] || fail "a read-only mount was written to"

sbx_run --private-tmp --mount "$T/source:/tmp/made/here" -- cat /tmp/made/here/file
assert_eq "$rc $out" "0 content" "below the private /tmp"
sbx_run --mount "$T/source/file:$T/target" -- true
assert_eq "$rc" 125 "a file on a directory"

for pair in "$T/missing:$T/target" "$T/source:$T/missing"; do
	sbx_run --mount "$pair" -- touch "$T/ran"
	assert_eq "$rc" 125 "--mount $pair"
	assert_one_line "$err" "^sbxctl: .*$T/missing" "its refusal"
	[ ! -e "$T/ran" ] || fail "it ran without its mount"
done
