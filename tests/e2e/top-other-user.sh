#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who is not root sees in ps, events and sbxtop his own runs and nobody else's.
. "$(dirname "$0")/../lib/lib.sh"
need_root
need setpriv
top=$LIB_ROOT/$BUILD/sbxtop
# Others have to get as far as the runtime directory and the program.
for d in "$T" "$T/.." "$T/../.."; do
	[ "$(stat -c %a "$d")" != 700 ] || chmod 0711 "$d"
done
mkdir -p "$SBX_RUN_DIR" && chmod 711 "$SBX_RUN_DIR"
as() { # UID COMMAND...
	local uid=$1
	shift
	capture setpriv --reuid "$uid" --regid "$uid" --clear-groups env SBX_RUN_DIR="$SBX_RUN_DIR" "$@"
}
naps=$(unique_seconds)
start() { SUDO_UID=$1 SUDO_GID=$1 SUDO_USER=$2 "$SBXCTL" run -p none -d -t 60s -- sh -c "sleep $naps; :"; }
hers=$(start 65534 nobody)
his=$(start 1 daemon)
ours=$("$SBXCTL" run -p none -d -t 60s -- sleep "$naps")
cleanup() { "$SBXCTL" kill "$hers" "$his" "$ours" >/dev/null 2>&1; }

as 65534 "$SBXCTL" ps --json
assert_eq "$(jq -r '.[].id' <<<"$out")" "$hers" "her ps"
as 1 "$SBXCTL" ps
assert_match "$out" "$his"
assert_no_match "$out" "$hers|$ours"
as 65533 "$SBXCTL" ps --json
assert_eq "$out" "[]" "a stranger's ps"

as 65534 "$top" --once --json
assert_eq "$rc" 0 "her sbxtop"
assert_eq "$(jq -r '.runs[] | .id, .state, .owner_uid, .processes, .output_bytes' <<<"$out" | paste -sd' ')" "$hers running 65534 2 0" "her frame"
assert_eq "$(jq -r '.runs[0].tree[] | .comm' <<<"$out" | paste -sd' ')" "sh sleep" "her processes, as the keeper tells them"
as 65533 "$top" --once --json
assert_eq "$(jq -c .runs <<<"$out")" "[]" "a stranger's frame"
"$top" --once --json >"$T/out"
assert_eq "$(jq -r '.runs | length' "$T/out")" 3 "root's frame"

as 65534 "$SBXCTL" events
assert_match "$out" "$hers"
assert_no_match "$out" "$his|$ours"
as 65534 ls "$SBX_RUN_DIR/by-uid/1"
assert_ne "$rc" 0 "another's list"
as 65534 touch "$SBX_RUN_DIR/by-uid/65534/aaaaaaaaaa"
assert_ne "$rc" 0 "a line of one's own in the list"
