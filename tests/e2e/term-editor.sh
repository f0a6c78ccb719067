#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Full-screen programs work in a terminal, keys reach them unchanged, and the terminal is as before when they end or
# are killed.
. "$(dirname "$0")/../lib/lib.sh"
need_root
need vim less
term_start
cd "$T" || exit 1
seq -f 'line %g' 300 >text
term_run "cd '$T' && stty -a >before"

term_line '$SBXCTL run -p none -- vim -u NONE -N text'
term_expect '"text" 300L'
term_send G o
term_send -l 'added in vim'
term_send Escape
term_send -l ':wq'
term_send Enter
term_run 'tail -n 1 text'
term_expect '^added in vim'

term_line '$SBXCTL run -p none -- less text'
term_expect '^line 1$'
term_send Space
term_expect '^line 40$'
term_send -l '/line 250'
term_send Enter
term_expect '^line 250$'
term_send q
term_run 'stty -a | diff - before && echo same-after-less'
term_expect '^same-after-less'

# Killed with the terminal in raw mode: still restored.
term_line '$SBXCTL run -p none --name editor -- vim -u NONE -N text'
term_expect 'added in vim|line 1$'
"$SBXCTL" kill -s KILL editor
term_run 'stty -a | diff - before && echo same-after-kill'
term_expect '^same-after-kill'
