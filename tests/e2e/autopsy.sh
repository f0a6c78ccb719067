#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# DESIGN 9: before a forced end the result says who was alive and what each waited for, the path of an open and the
# child of a wait included, and a hostile name in there is still valid JSON.
. "$(dirname "$0")/../lib/lib.sh"
need_root

mkfifo "$T/nobody-writes"
odd=$T/$'odd \xff\e[31m name'
mkfifo "$odd"
export odd
sbx_run -e odd="$odd" -t 0.5 -- bash -c 'cat "$1" & cat "$odd" & sleep 60 | cat & wait' sh "$T/nobody-writes"
assert_eq "$rc" 124 "status"
waits() { result ".autopsy[] | select(.comm == \"$1\") | .waits_for"; }
assert_match "$(waits cat)" "open $T/nobody-writes" "the reader of the FIFO"
assert_match "$(waits cat)" 'read fd 0 pipe:\[[0-9]+\]' "the reader of the pipe"
assert_match "$(waits cat)" "open $T/odd" "the reader of the oddly named FIFO"
assert_match "$(waits sleep)" '^sleep$' "the sleeper"
assert_eq "$(result '.autopsy | length')" 5 "rows"

sbx_run -- true
assert_eq "$(result '.autopsy | length')" 0 "rows after an orderly end"
