#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# Contracts 9, 97: a keeper that is stopped keeps neither deadline nor watch: its tree ends all the same at a deadline,
# also one that came later, and with its owner, in each way in which the kernel kills without us. Awake again, the keeper says why.
. "$(dirname "$0")/../lib/lib.sh"
need_root

kernel_kill() { # ID
	jq -r '.result.tier.clauses[] | select(.capability == "kernel_kill") | .mechanism' "$SBX_RUN_DIR/$1/meta.json"
}
keeper_of() { "$SBXCTL" inspect "$1" | jq .status.keeper_pid; }
asleep() { [ "$(pgrep -fxc "sleep $naps")" = "$1" ]; }
start() { # WHAT OPTIONS: a tree with its keeper stopped
	what=$1
	shift
	naps=$(unique_seconds)
	id=$("$SBXCTL" run -p none -d "$@" -- sh -c 'trap "" TERM; setsid sleep "$0" & sleep "$0"; sleep "$0"' "$naps")
	keeper=$(keeper_of "$id")
	assert "it runs: $what" wait_until 5 asleep 2
	assert_eq "$(kernel_kill "$id")" "$way" "the way: $what"
}
cleanup() { kill -CONT "$keeper" 2>/dev/null; }
ends() { # KILLED_BY: says what the keeper says when it is awake
	wait_until 15 asleep 0 || fail "alive behind a stopped keeper: $what"
	assert "the keeper is still stopped: $what" grep -q '^State:.[Tt]' "/proc/$keeper/status"
	kill -CONT "$keeper"
	timeout 10 "$SBXCTL" wait "$id"
	cp "$SBX_RUN_DIR/$id/result.json" "$T/result.json"
	assert_eq "$(result '[.killed_by, .tree.survivors] | @json')" "[\"$1\",0]" "$what"
	keep_result
}

each() { # OPTIONS
	start "a deadline" "$@" -t 1.5 -k 0.1
	kill -STOP "$keeper"
	ends wall
	start "a deadline that came later" "$@"
	"$SBXCTL" update "$id" -t 1
	kill -STOP "$keeper"
	ends wall
	start "a frozen tree" "$@" -t 1.5 -k 0.1
	"$SBXCTL" freeze "$id"
	kill -STOP "$keeper"
	ends wall
	sleep 1000 &
	start "its owner" "$@" --owner $!
	kill -STOP "$keeper"
	kill -KILL $!
	wait $! 2>/dev/null
	ends owner
	[ "$way" = exit_hook ] && return # which watches processes; another end is the keeper's alone
	mkfifo "$T/line"
	exec 8<>"$T/line"
	exec 7<"$T/line" 9>"$T/line" 8<&-
	start "a descriptor's other end" "$@" --owner fd:7 9<&-
	exec 7<&-
	kill -STOP "$keeper"
	exec 9>&-
	ends owner
	rm "$T/line"
}

way=watcher
export SBX_DEGRADE=exit-hook
each
way=pid_namespace
each --pid-ns on
unset SBX_DEGRADE
"$SBXCTL" unload
"$SBXCTL" run -p none -t 10 --result "$T/result.json" -- true
way=$(result '.tier.clauses[] | select(.capability == "kernel_kill") | .mechanism')
keep_result
[ "$way" != exit_hook ] || each
[ "$way" != exit_hook ] || each --pid-ns on
