#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `update` changes limits of a live run: they hold from then on and are on record; what cannot be changed is refused.
. "$(dirname "$0")/../lib/lib.sh"
need_root

# A deadline that would not come for an hour comes now.
naps=$(unique_seconds)
id=$("$SBXCTL" run -p none -d -t 1h -- sleep "$naps")
capture "$SBXCTL" update "$id" -t 300ms
assert_eq "$rc" 0 "update"
capture timeout 10 "$SBXCTL" wait "$id"
assert_eq "$rc" 124 "deadline"
assert_eq "$(jq -r '.limits.wall.value, .limit.kind' "$SBX_RUN_DIR/$id/result.json" | paste -sd' ')" "300000000 wall" "result"

# Processes: the eighth was allowed at start and is refused now. Options may stand before the ID.
cat >"$T/fork.sh" <<'EOF'
while [ ! -e "$1/go" ]; do sleep 0.02; done
for i in 1 2 3 4 5 6 7 8; do sleep 5 & done
wait
EOF
id=$("$SBXCTL" run -p none -d --pids 100 -t 20s -- sh "$T/fork.sh" "$T")
capture "$SBXCTL" update --pids 5 "$id"
assert_eq "$rc" 0 "update --pids"
touch "$T/go"
capture "$SBXCTL" wait "$id"
assert_ne "$rc" 0 "a script whose forks are refused"
assert_ge "$(jq -r '.limits_hit[] | select(.kind == "pids") | .count' "$SBX_RUN_DIR/$id/result.json")" 1 "forks refused"

naps=$(unique_seconds)
id=$("$SBXCTL" run -p none -d -t 60s -- sleep "$naps")
while read -r status words args; do
	# shellcheck disable=SC2086 # several words
	capture "$SBXCTL" update "$id" $args
	assert_eq "$rc" "$status" "update $args"
	assert_match "$err" "$words"
done <<'EOF'
2 which
2 removed --timeout none
1 nofile --nofile 5
2 zero -m 0
2 size -m 5Q
2 twice|already -m 5M -m 6M
2 new.run --limits strict
2 Unknown|unknown --flavour 3
EOF
capture "$SBXCTL" inspect "$id"
assert_eq "$(jq -c .status.limits <<<"$out")" '{"wall":{"value":60000000000,"unit":"ns"}}' "refused updates changed nothing"
"$SBXCTL" kill "$id"
