#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Knowing an id is not enough (107): another user gets nothing, the invoking user his own run, and a process of the run
# may look at itself but not loosen or end itself. The run cannot reach its own spill.
. "$(dirname "$0")/../lib/lib.sh"
need_root
need setpriv
# Others have to get as far as the runtime directory.
for d in "$T" "$T/.." "$T/../.."; do
	[ "$(stat -c %a "$d")" != 700 ] || chmod 0711 "$d"
done
mine=(setpriv --reuid=65534 --regid=65534 --clear-groups)
other=(setpriv --reuid=65533 --regid=65533 --clear-groups)

id=$(SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody "$SBXCTL" run -p none -d -t 60s -- \
	sh -c 'head -c 5000000 /dev/zero; cat "$0" >/dev/null 2>/tmp/sbx-reach.$$ || echo kept >&2; rm -f /tmp/sbx-reach.$$; while :; do sleep 0.05; done' "$SBX_RUN_DIR/none")
spilled() { [ "$(stat -c %s "$SBX_RUN_DIR/$id/stdout.spill" 2>/dev/null)" = 5000000 ]; }
assert "it spills" wait_until 5 spilled
assert_eq "$(stat -c '%U %a' "$SBX_RUN_DIR/$id/stdout.spill")" "root 600" "a live run's spill"

for command in inspect stop kill freeze thaw wait logs; do
	capture "${other[@]}" "$SBXCTL" $command "$id"
	assert_eq "$rc" 1 "$command by another user"
	assert_match "$err" "no run '$id' of yours"
	told=$err
	capture "${other[@]}" "$SBXCTL" $command aaaaaaaaaa
	assert_eq "${err//aaaaaaaaaa/$id}" "$told" "a run that does not exist looks the same to $command"
done
assert "another user cannot connect" "${other[@]}" /usr/bin/python3 - "$SBX_RUN_DIR/$id/sock" <<'EOF'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    s.connect(sys.argv[1])
except PermissionError:
    sys.exit(0)
sys.exit(1)
EOF
assert_eq "$("$SBXCTL" inspect "$id" | jq -r .status.state)" running "untouched"

capture "${mine[@]}" "$SBXCTL" inspect "$id"
assert_eq "$(jq -r '.status.state, .meta' <<<"$out" | paste -sd' ')" "running null" "inspect by its user"
capture "${mine[@]}" "$SBXCTL" freeze "$id"
assert_eq "$rc" 0 "freeze by its user"
capture "${mine[@]}" "$SBXCTL" stop "$id"
assert_eq "$rc" 0 "stop by its user"
capture "${mine[@]}" ls "$SBX_RUN_DIR"
assert_ne "$rc" 0 "listing all runs"
assert_eq "$("${mine[@]}" jq -r .outcome "$SBX_RUN_DIR/$id/result.json")" stopped "its user reads the result"
assert_eq "$("${mine[@]}" wc -c <"$SBX_RUN_DIR/$id/stdout.spill")" 5000000 "its user reads the spill"
assert "but not argv" "${mine[@]}" test ! -r "$SBX_RUN_DIR/$id/meta.json"
assert "and nobody else" "${other[@]}" test ! -r "$SBX_RUN_DIR/$id/result.json"

# From inside, with the owner's uid and the id in the environment.
cat >"$T/inside.sh" <<'EOF'
for c in "update $SBX_ID -t 1h" "kill $SBX_ID" "stop $SBX_ID" "freeze $SBX_ID" "logs $SBX_ID" "kill -s USR1 $SBX_ID"; do
	"$0" $c 2>&1 && echo "BREACH: $c"
done
setsid "$0" update "$SBX_ID" -t 1h 2>&1 && echo "BREACH: setsid"
"$0" inspect "$SBX_ID" | grep -o '"state": "running"'
EOF
capture "$SBXCTL" run -p none -t 30s -e SBX_RUN_DIR -- sh -c '. "$1"' "$SBXCTL" "$T/inside.sh"
assert_eq "$rc" 0 "a run that tries"
assert_no_match "$out" "BREACH"
assert_eq "$(grep -c 'not from inside the run' "$T/out")" 7 "refusals"
assert_match "$out" '"state": "running"'
