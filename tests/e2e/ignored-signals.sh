#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# DESIGN 8: started to ignore HUP, INT or QUIT, as by nohup or in a script's background, a run is not ended by them; TERM
# still ends it, and the command inside has none of it ignored.
. "$(dirname "$0")/../lib/lib.sh"

deaf() { # COMMAND: a keeper that was started deaf, once its command is up
	rm -f "$T/up"
	keep_result
	(
		trap '' HUP INT QUIT
		exec "$SBXCTL" run -p none --result "$T/result.json" -- sh -c "touch '$T/up'; $1" >"$T/out" 2>"$T/err"
	) &
	keeper=$!
	assert "the command starts" wait_until 10 test -e "$T/up"
}
deaf "until [ -e '$T/go' ]; do sleep 0.05; done; (sleep 0.1; grep -E '^Sig(Ign|Blk)' /proc/\$\$/status); exit 5"
for signal in HUP INT QUIT; do
	kill -$signal $keeper
done
sleep 0.3
touch "$T/go"
wait $keeper
assert_eq $? 5 "status after HUP, INT and QUIT"
assert_eq "$(cut -f2 "$T/out" | sort -u)" 0000000000000000 "what the command itself ignores and blocks"
assert_result .outcome exited

deaf 'exec sleep 1000'
kill -TERM $keeper
wait $keeper
assert_eq $? 143 "status after TERM"
