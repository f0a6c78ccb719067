#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ctrl-Z stops the whole tree, detached members included, and hands the terminal back; fg goes on where it stopped.
. "$(dirname "$0")/../lib/lib.sh"
need_root
cat >"$T/job" <<'END'
setsid sh -c 'while :; do echo x; sleep 0.05; done' >ticks 2>/dev/null </dev/null &
read -r line
echo "got $line"
END
cd "$T" || exit 1
term_start
ticks() { wc -l <"$T/ticks"; }
stopped() { local n && n=$(ticks) && sleep 0.4 && [ "$(ticks)" = "$n" ]; }

term_line '$SBXCTL run -p none -- sh ./job'
assert "the detached member ticks" wait_until 5 eval '[ -s "$T/ticks" ]'
term_send C-z
term_expect 'Stopped'
assert "the detached member is frozen" wait_until 3 stopped

# The shell has its terminal: line editing, echo and job control work.
term_run 'jobs | grep -c Stopped'
term_expect '^1$'

term_line 'fg'
sleep 0.5
stopped && fail "the detached member did not go on after fg"
term_line 'hello'
term_expect '^got hello'
term_run 'true'
assert "the tree is gone" wait_until 3 stopped

# bg: the job goes on in the background and never takes the terminal.
term_line "\$SBXCTL run -p none -- sh -c 'sleep 1; echo \"quiet end\" >done'"
sleep 0.4
term_send C-z
term_expect 'Stopped.*sleep 1'
term_run 'bg'
assert "the job ends in the background" wait_until 5 test -s "$T/done"
term_run 'wait; echo waited-$?'
term_expect '^waited-0'
