#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# sbxtop on a terminal: every key and pane does what the `?` page says, hostile names do not move a cell, a resize is
# followed, too small says so, and when sbxtop is killed nothing else ends.
. "$(dirname "$0")/../lib/lib.sh"
need_root
top=$LIB_ROOT/$BUILD/sbxtop
naps=$(unique_seconds)
cleanup() { "$SBXCTL" kill "$id" "$evil" >/dev/null 2>&1; }
state_of() { "$SBXCTL" ps --json | jq -r --arg id "$1" '.[] | select(.id == $id) | .state'; }
is_state() { [ "$(state_of "$1")" = "$2" ]; }
deadline_is_far() { [ "$("$SBXCTL" inspect "$id" | jq .status.deadline_left_ns)" -gt 4000000000000 ]; }

id=$("$SBXCTL" run -p none -d --name alpha -t 10m -m 64M -- sh -c "cp /bin/sleep $T/'naïve'; $T/naïve $naps & sleep $naps; :")
printf '#!/bin/sh\nprintf "\\033]0;owned\\007\\nx\\377" >/proc/self/comm\nsleep %s\n:\n' "$naps" >"$T/hostile"
chmod +x "$T/hostile"
evil=$("$SBXCTL" run -p none -d -- "$T/hostile" $'\033[2J\033[1;1HHIJACKED\n\xff' $'\xe2\x80\xaegnp.exe')

term_start 80 24
show() { term_line "LC_ALL=C.UTF-8 $top -d 0.3 $*"; }
show --id "${id:0:9}"
term_expect 'sbxtop: 1 runs, 3 processes'
term_expect "^$id +running .* alpha: sh"
term_expect '└ naïve'
term_send '?'
term_expect 'keys of sbxtop'
term_expect 'Up k +select the line above'
term_send PageDown
term_send Down
term_expect '^  z +freeze every process'
term_send x
term_expect 'DEADLINE'

# ---- arranging ----
term_send Left
term_expect '\+ alpha'
term_send Right
term_expect '└ sleep'
term_send '*'
term_expect '\+ alpha'
term_send '*'
term_expect '└ sleep'
term_send '>'
term_expect 'sorted by deadline'
term_send '<'
term_send '<'
term_expect 'sorted by owner'
term_send r
term_wait '^sorted by owner$'
term_send F
term_expect 'selection stays'
term_send F
term_send / && term_send -l nomatch && term_send Enter
term_expect 'no run matches'
term_send / && term_send -l ALPHx && term_send BSpace && term_send -l a && term_send Enter
term_expect 'only with "ALPHa"'
term_expect "^$id"
term_send / && term_send Enter

# ---- panes ----
term_send l
term_expect 'limits and clauses of'
term_expect 'process_tracking +enforced'
term_send -N 40 ']'
term_expect 'depth +none'
term_send -N 6 '['
term_expect 'wall +10 min'
term_send e
term_expect 'process_execed [0-9]+ naïve'
term_send d
term_expect 'nothing was refused'
term_send y
term_expect 'no hint is shown'
term_send p
term_expect "select one of its processes"
term_send Down
term_expect 'arguments +sh -c cp'
term_expect 'state +S, 1 threads'
term_send End
term_expect "arguments +.*$naps"
term_send Home
term_send Escape
wait_until 5 eval '! term_shows "arguments"' || fail "the pane did not close"
term_send Space

# ---- acting ----
term_send z
term_expect "$id: frozen"
term_expect "^$id frozen"
assert "frozen" is_state "$id" frozen
term_send Z
term_expect "$id: thawed"
assert "thawed" wait_until 5 is_state "$id" running
term_send u && term_send -l nonsense && term_send Enter
term_expect 'nonsense'
term_send u && term_send -l 2h && term_send Enter
term_expect 'deadline is changed'
assert "the new deadline" deadline_is_far
term_expect "^$id running.* 1h59m"
term_send K
term_expect "kill $id\\? y or n"
term_send n
term_expect 'left alone'
assert "alive" is_state "$id" running
term_send t
term_expect "stop $id\\? y or n"

# ---- resize, while a question is open ----
term_size 160 40
term_expect 'OUTPUT|OUT/s'
term_expect "stop $id\\? y or n"
term_size 70 20
term_expect 'too small: 70x20, wanted 80x24'
term_size 80 24
term_expect "stop $id\\? y or n"
term_send y
term_expect "$id: asked to stop"
term_expect 'no run (is alive|matches)'
assert "stopped" wait_until 5 eval '[ "$("$SBXCTL" inspect "$id" | jq -r .result.killed_by)" = stop ]'
term_send q
term_prompt

# ---- hostile names ----
term_size 200 30
show
term_expect '^sbxtop: 1 runs'
term_expect "^$evil"
term_expect 'x1b\[2J'
term_send p
term_expect 'command .*HIJACKED'
term_send Down
term_expect 'name +.x1b\]0;owned.x07.x0ax'
[ "$(term display-message -p '#{pane_title}')" != owned ] || fail "the title was changed"
assert "the heads are where they were" eval "term_screen | sed -n 3p | grep -q '^ID  '"
assert "no line begins with a hijack" eval "! term_screen | grep -q '^HIJACKED'"

# ---- killed: its terminal is left as it is, and everything lives ----
pkill -KILL -fx "$top -d 0.3" || fail "no sbxtop to kill"
term_line 'reset; echo back'
term_expect '^back'
assert "the run lives on" is_state "$evil" running

# ---- without colours, and where there is no terminal ----
term_line "clear; NO_COLOR=1 LC_ALL=C $top -d 0.3"
term_expect '^sbxtop: 1 runs'
term_expect '` sleep'
colours=$(term capture-pane -p -e | grep -c $'\033\[3[0-7]m')
assert_eq "$colours" 0 "lines with colours"
term_send Down
term_send K
term_expect "kill $evil"
term_send y
term_expect "killed"
assert "killed" wait_until 5 eval '[ "$("$SBXCTL" inspect "$evil" | jq -r .result.killed_by)" = terminate ]'
term_send q
term_prompt
capture "$top" </dev/null
assert_eq "$rc" 1 "no terminal"
assert_one_line "$err" "no terminal: --once and --batch"
term_run "TERM=nonsense $top 2>$T/why"
assert_match "$(cat "$T/why")" "terminal type 'nonsense' is not known"
