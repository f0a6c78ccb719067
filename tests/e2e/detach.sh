#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 18, 97: -d prints the id and is back at once; nobody's pipe is held, the caller's end is not the run's, and a
# start that fails says so in the foreground.
. "$(dirname "$0")/../lib/lib.sh"

cookie=$(unique_seconds)
begin=$(date +%s%N)
id=$(sh -c "'$SBXCTL' run -p none -d -- sh -c 'echo \$\$ >\"$T/pid\"; echo kept; sleep $cookie; exit 5' 2>&1")
assert_le $((($(date +%s%N) - begin) / 1000000)) "$(slow_ms 1500)" "milliseconds"
assert_match "$id" '^[a-z2-7]{10}$' "what it prints"
assert "the command starts" wait_until 10 test -s "$T/pid"
assert "it lives after its caller" alive "$(cat "$T/pid")"
assert_eq "$("$SBXCTL" logs "$id")" kept "its output so far"

kill "$(pids_with "$cookie")"
assert "it ends by itself" wait_until 10 test -e "$SBX_RUN_DIR/$id/result.json"
cp "$SBX_RUN_DIR/$id/result.json" "$T/result.json"
assert_eq "$(result '[.outcome, .exit_code, .output.stdout.text, .limits.wall.origin] | @json')" \
	'["exited",5,"kept\n","waived"]' "its result"

# The id is the only line on stdout, whatever the command writes at once.
id=$("$SBXCTL" run -p none -d -- sh -c 'echo noise; echo noise >&2')
assert_match "$id" '^[a-z2-7]{10}$' "what it prints beside a noisy command"
assert "it ends" wait_until 10 test -e "$SBX_RUN_DIR/$id/result.json"

# A deadline counts from the start, an owner can be named.
id=$("$SBXCTL" run -p none -d -t 0.5 -k none -- sleep "$cookie")
assert "its deadline ends it" wait_until 10 test -e "$SBX_RUN_DIR/$id/result.json"
assert_eq "$(jq -r .killed_by "$SBX_RUN_DIR/$id/result.json")" wall "what ended it"
sleep 1000 &
owner=$!
id=$("$SBXCTL" run -p none -d --owner $owner -- sleep "$cookie")
assert "it lives with its owner" test -n "$(pids_with "$cookie")"
kill -KILL $owner
assert "and dies with it" wait_until 10 none_with "$cookie"

for command in /nonexistent/program:127 /etc/passwd:126; do
	capture "$SBXCTL" run -p none -d -- "${command%:*}"
	assert_eq "$rc $out" "${command#*:} " "status and stdout of a start that fails"
	assert_one_line "$err" "^sbxctl: ${command%:*}: ." "its line"
done
capture "$SBXCTL" run -p none -d --no-such-option -- true
assert_eq "$rc" 125 "status of a refusal"
