#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 1, 16: a result that nobody reads does not make the keeper immortal: signals that came while the run ended do not
# lose the result, one that comes while its reader takes nothing ends us.
. "$(dirname "$0")/../lib/lib.sh"

cleanup() { exec 8<&-; }

mkfifo "$T/full"
exec 8<>"$T/full"
fill() {
	/usr/bin/python3 -c "
import os
os.set_blocking(8, False)
try:
    while True: os.write(8, b'x' * 4096)
except BlockingIOError: os.set_blocking(8, True)"
}
in_write() { grep -q pipe_write "/proc/$keeper/wchan" 2>/dev/null; }

unread() { # REDIRECTIONS-AND-ARGUMENTS: its report meets the full pipe; TERM must end it
	(eval "exec '$SBXCTL' run -p none $1") &
	keeper=$!
	assert "the report blocks: $1" wait_until 10 in_write
	kill -TERM $keeper
	assert "TERM ends it: $1" wait_until 5 gone $keeper
	wait $keeper
	assert_eq $? 143 "its status"
}
fill
unread '--json -- true >&8'
unread '--tree -- true 2>&8'
unread '--result fd:8 -- true'

# A burst of signals does not cost the record.
for _ in 1 2 3 4 5; do
	keep_result
	"$SBXCTL" run -p none --result "$T/result.json" -q -k 100ms -- sh -c 'trap "" TERM; : >"$1"; sleep 20' sh "$T/up" &
	keeper=$!
	assert "it runs" wait_until 5 test -e "$T/up"
	rm "$T/up"
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do kill -TERM $keeper 2>/dev/null || break; done
	wait $keeper
	assert_eq $? 143 "status after a burst"
	assert_result .killed_by signal
done
