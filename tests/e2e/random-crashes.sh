#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 300
# Contracts 100, 101, 104, 117: a keeper dies at a random moment or fault point, with its owner, with every process of
# sbx at once, or in the middle of an order, around a tree in every shape that does not stand still. Nobody of the tree is
# left, no stranger is hurt, and after the next command the host holds what it held before. ROUNDS=1000 SEED=7 for more.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/inventory.sh"
need_root

rounds=${ROUNDS:-24} seed=${SEED:-$RANDOM}
RANDOM=$seed
faults=$LIB_ROOT/build/faults/sbxctl
[ -x "$faults" ] || fail "build/faults/sbxctl is missing: make build/faults/sbxctl"
points=(none)
mapfile -t -O 1 points < <(sed -n 's/^# points: //p' "$LIB_ROOT/tests/e2e/crash-points.sh" | tr ' ' '\n')
mark=$T/mark

# Others may run on this host meanwhile: ours are the groups of runs that had a directory.
ids=()
inventory_groups() {
	local id
	for id in "${ids[@]}"; do
		find /sys/fs/cgroup -type d -name "sbx-$id" -prune 2>/dev/null | sed 's/^/group /'
	done
}

# In the keeper's session and process group, and in none of them.
strangers=()
env -u LC_SBX_TEST sleep 86399 &
strangers+=($!)
env -u LC_SBX_TEST setsid sleep 86398 &
strangers+=($!)
cleanup() { kill -KILL "${strangers[@]}" 2>/dev/null; }

pick() { echo "${@:RANDOM % $# + 1:1}"; }
nap() { sleep "0.$(printf %03d $((RANDOM % $1)))"; } # up to so many ms
ours() { pgrep -f "^[^ ]*sbxctl run .*$cookie"; }    # keeper, front, init, watcher

choose_options() {
	options=(-p none)
	((RANDOM % 3)) || options+=(-m 256M)
	((RANDOM % 3)) || options+=(--pids 200)
	((RANDOM % 3)) || options+=(--workdir new --disk 8M)
	((RANDOM % 3)) || options+=(--private-tmp)
	((RANDOM % 2)) || options+=(--pid-ns on)
	((RANDOM % 2)) || options+=(-t "0.$((RANDOM % 400 + 100))" -k 0.1)
	((RANDOM % 4)) || options+=(--leftovers "$(pick wait keep)")
}

# With --leftovers keep the child of ours is only the front.
kill_keeper() { # PID
	kill -STOP "$1"
	case "${options[*]}" in *keep*) pgrep -P "$1" | xargs -r kill -KILL ;; esac
	kill -KILL "$1"
}

strike() { # how it ends; the run is a child of ours
	local keeper=$1
	case $2 in
	keeper) kill_keeper "$keeper" ;;
	everybody) ours | xargs -r kill -KILL ;; # at once
	stopped)
		ours | xargs -r kill -STOP
		nap 100
		ours | xargs -r kill -KILL
		;;
	owner) kill -KILL "$owner" ;;
	order)
		for order in $(pick stop kill freeze "freeze thaw") kill; do
			timeout 5 "$SBXCTL" $order "r$round" &
			((RANDOM % 2)) || nap 20
		done >"$T/orders" 2>&1
		((RANDOM % 2)) || sleep 0.3
		kill_keeper "$keeper" # the run may not have been there to take an order
		;;
	fault) ;;
	esac 2>/dev/null
}

# Nobody of the tree is left, and so nobody writes. Asked twice: a process in the middle of an exec has no arguments.
still() {
	local before
	anybody_with "$cookie" && return 1
	before=$(stat -c %s "$mark")
	sleep 0.1
	[ "$(stat -c %s "$mark")" = "$before" ] && ! anybody_with "$cookie"
}
# Without the exit hook and with the watcher killed as well, nobody is left to see it; then the next command does.
still_after_a_command() { still || { "$SBXCTL" ps >/dev/null && still; }; }

a_round() {
	local how what keeper s
	how=$(pick keeper keeper everybody stopped owner order fault fault)
	cookie=$round.$RANDOM$$
	choose_options
	env -u LC_SBX_TEST sleep 86397 &
	owner=$!
	what="round $round, SEED=$seed: $how: ${options[*]}"
	: >"$mark"
	if [ "$how" = fault ]; then
		point=$(pick "${points[@]}"):crash
		what="$what: $point"
		SBX_FAULT=$point "$faults" run "${options[@]}" -t 1 -k 0.1 -- "$AIDS/shapes" "$cookie" all "$mark" >/dev/null 2>&1 &
	else
		"$SBXCTL" run "${options[@]}" --name "r$round" --owner $owner -- "$AIDS/shapes" "$cookie" all "$mark" >/dev/null 2>&1 &
	fi
	keeper=$!
	nap 200
	strike $keeper "$how"
	wait $keeper 2>/dev/null
	case $how in # of --leftovers keep the front goes first
	everybody | stopped) wait_until 10 still_after_a_command || fail "alive: $what: $(ps -ef | grep "$cookie" | grep -v grep)" ;;
	*) wait_until 10 still || fail "alive: $what: $(ps -ef | grep "$cookie" | grep -v grep)" ;;
	esac
	kill -KILL $owner 2>/dev/null
	wait $owner 2>/dev/null
	for s in "${strangers[@]}"; do assert "a stranger lives: $what" alive "$s"; done
	ids=()
	for s in "$SBX_RUN_DIR"/??????????/; do [ ! -d "$s" ] || ids+=("$(basename "$s")"); done
	inventory_sweep "$SBXCTL" "$what"
	assert_inventory "$T/before" "$what"
	for s in "$SBX_RUN_DIR"/??????????/result.json; do
		[ ! -e "$s" ] || assert_eq "$(jq .tree.survivors "$s")" 0 "survivors on record: $what"
	done
	rm -rf "${SBX_RUN_DIR:?}"/??????????
}

prepare() {
	"$SBXCTL" run -p none --workdir new --private-tmp -- true || fail "a run without a crash"
	"$SBXCTL" ps >/dev/null
	rm -rf "${SBX_RUN_DIR:?}"/??????????
	inventory | sort >"$T/before"
}

prepare
for ((round = 1; round <= rounds; round++)); do
	if [ $round = $((rounds / 2 + 1)) ]; then # the other half with a watcher, or our init alone
		"$SBXCTL" unload
		export SBX_DEGRADE=exit-hook
		prepare
	fi
	a_round
done
echo "$rounds rounds, SEED=$seed"
