#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C in a terminal reaches the command as it would without sbxctl, and the shell sees 130. Without a pty a command that does not
# listen dies at the second.
. "$(dirname "$0")/../lib/lib.sh"
need_root
cd "$T" || exit 1
term_start
seconds=$(unique_seconds)

term_run 'stty -a >before'
term_line "\$SBXCTL run -p none -- sleep $seconds"
assert "the command runs" wait_until 5 eval '[ -n "$(pids_with "$seconds")" ]'
term_send C-c
term_run 'echo after-$?'
term_expect '^after-130'
assert "the interrupted tree is gone" none_with "$seconds"

# A handler gets its say, and its status is the command's own.
term_prompt
term_line "\$SBXCTL run -p none -- sh -c 'trap \"echo caught; exit 7\" INT; echo ready; while :; do sleep 0.1; done'"
term_expect '^ready'
term_send C-c
term_expect 'caught$'
term_run 'echo after-$?'
term_expect '^after-7'

# Without a pty Ctrl-C is a signal to sbxctl. Deaf to INT, TERM and HUP: the second does not wait for the grace.
term_prompt
term_line "\$SBXCTL run -p none --no-pty -k 60 -- sh -c 'trap \"\" INT TERM HUP; echo deaf; sleep $seconds; sleep $seconds'"
term_expect '^deaf'
term_send C-c
sleep 0.3
assert_ne "$(pids_with "$seconds")" "" "sleepers after one Ctrl-C"
term_send C-c
term_run 'true' 5
assert "the deaf tree is gone" wait_until 3 none_with "$seconds"

term_run 'stty -a | diff - before && echo same-terminal'
term_expect '^same-terminal'
