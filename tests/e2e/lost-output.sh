#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 31: output that could not be passed on is never lost in silence: a full disk under our stdout is a line and a
# status that is not 0, as it is for the command without us.
. "$(dirname "$0")/../lib/lib.sh"

full() { # COMMAND...: into a disk that is full; stderr as usual
	keep_result
	"$SBXCTL" run -p none --result "$T/result.json" -- "$@" >/dev/full 2>"$T/err"
	rc=$?
	err=$(cat "$T/err")
}
bare=$(sh -c 'cat /etc/passwd >/dev/full' 2>/dev/null; echo $?)
assert_eq "$bare" 1 "the same without us"

full cat /etc/passwd
assert_ne "$rc" 0 "status of a command whose output was lost"
assert_one_line "$err" '^sbxctl: write the output: No space left on device' "its line"
assert_eq "$(result '[.outcome, .exit_code] | @json')" '["exited",0]' "what the command did is a fact of its own"
full sh -c 'echo lost; exit 3'
assert_eq "$rc" 3 "status of a command that fails besides"
assert_one_line "$err" '^sbxctl: write the output: No space left on device' "its line"
full yes
assert_ne "$rc" 0 "status of one that never ends"
assert_one_line "$err" '^sbxctl: write the output: No space left on device' "its line"
assert_result .tree.survivors 0

"$SBXCTL" run -p none --json -- true >/dev/full 2>"$T/err"
assert_eq $? 1 "status when the record itself is lost"
assert_one_line "$(cat "$T/err")" '^sbxctl: write the output: ' "its line"
"$SBXCTL" run -p none --json -- true >&- 2>"$T/err"
assert_eq $? 1 "status when stdout is closed"
assert_one_line "$(cat "$T/err")" '^sbxctl: write the output: Bad file descriptor; the result is kept: sbxctl inspect [a-z2-7]{10}$' "its line"
assert_eq "$("$SBXCTL" inspect "$(sed 's/.* //' "$T/err")" | jq -r .result.exit_code)" 0 "what that shows"
"$SBXCTL" run -p none -- true >&- || fail "a command that writes nothing to a stdout that is closed"
"$SBXCTL" run -p none -- sh -c 'echo nobody >&2' 2>&- || fail "a stderr that is closed"

# Nobody wants it: no loss.
capture "$SBXCTL" run -p none -- echo hi >/dev/null
assert_eq "$rc $err" "0 " "into /dev/null"
