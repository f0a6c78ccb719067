#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `kill` ends every process of a run and nothing else; `kill -s SIG` reaches every process of it.
. "$(dirname "$0")/../lib/lib.sh"
need_root

naps=$(unique_seconds)
outside=$(unique_seconds)
sleep "$outside" &
stranger=$!
cleanup() { kill "$stranger" 2>/dev/null; }

cat >"$T/hide.sh" <<'EOF'
setsid sh -c 'setsid sleep "$1" & exec sleep "$1"' hidden "$1" &
nohup sleep "$1" >/dev/null 2>&1 &
(sleep "$1" &)
exec sleep "$1"
EOF
id=$("$SBXCTL" run -p none -d -- sh "$T/hide.sh" "$naps")
five() { [ "$(pgrep -fxc "sleep $naps")" = 5 ]; }
assert "five sleepers" wait_until 5 five
capture "$SBXCTL" kill "$id"
assert_eq "$rc" 0 "kill"
assert "every sleeper is gone when kill returns" none_with "$naps"
assert "a stranger lives" alive "$stranger"
assert_eq "$(jq -r '.outcome, .killed_by, .tree.survivors' "$SBX_RUN_DIR/$id/result.json" | paste -sd' ')" "stopped terminate 0" "result"

# A signal reaches processes that left the group and the session.
cat >"$T/count.sh" <<'EOF'
setsid sh -c 'trap "echo child >>\"$1\"" USR1; echo up >>"$1"; while :; do sleep 0.02; done' child "$1" &
trap 'echo root >>"$1"' USR1
echo up >>"$1"
while :; do sleep 0.02; done
EOF
# The sleepers in between die of it: that is what USR1 does to who does not expect it.
id=$("$SBXCTL" run -p none -d -- sh "$T/count.sh" "$T/marks")
both_up() { [ "$(grep -c up "$T/marks" 2>/dev/null)" = 2 ]; }
assert "both are up" wait_until 5 both_up
capture "$SBXCTL" kill -s USR1 "$id"
assert_eq "$rc" 0 "kill -s USR1"
both_told() { grep -q root "$T/marks" && grep -q child "$T/marks"; }
assert "root and child got it" wait_until 5 both_told
capture "$SBXCTL" inspect "$id"
assert_eq "$(jq -r .state <<<"$out")" live "a signal is not an end"
capture "$SBXCTL" kill -s NOPE "$id"
assert_eq "$rc" 2 "unknown signal"
assert_match "$err" "NOPE"
capture "$SBXCTL" kill -s KILL "$id"
assert_eq "$rc" 0 "kill -s KILL"
assert_eq "$(jq -r .killed_by "$SBX_RUN_DIR/$id/result.json")" terminate "KILL is the whole tree's end"
