#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A keeper that crashes at any step of start or end leaves, after the next `ps`, what was there before: no process, no
# group, no mount, no row, no socket; and where there is a result, a true one.
# watchdog: 120
. "$(dirname "$0")/../lib/lib.sh"
need_root
faulty=${FAULTY:-$LIB_ROOT/build/faults/sbxctl}
[ -x "$faulty" ] || skip "needs build/faults/sbxctl (make check-e2e builds it)"

points=$(sed -nE 's/.*(FAULT\(|[{] )"((start|end)_[a-z]+)".*/\2/p' "$LIB_ROOT"/user/run/*.c | sort -u)
assert_ge "$(wc -w <<<"$points")" 15 "fault points"

groups() { find /sys/fs/cgroup -mindepth 1 -type d -name 'sbx-*' 2>/dev/null | sort; }
places() { # mounts, sockets and working directories of ours
	grep -F "$SBX_RUN_DIR" /proc/self/mountinfo | cut -d' ' -f5
	find "$SBX_RUN_DIR" -name sock
	find "$SBX_RUN_DIR/work" -mindepth 1 2>/dev/null
}
no_new_groups() { [ -z "$(groups | comm -13 "$T/groups" -)" ]; }
# A directory that is too young to tell is left alone for a moment.
settled() {
	"$SBXCTL" ps >/dev/null
	! find "$SBX_RUN_DIR" -mindepth 1 -maxdepth 1 -name '??????????' \
		-exec test ! -e {}/result.json \; -print | grep -q .
}

"$SBXCTL" run -p none -- true
rm -rf "${SBX_RUN_DIR:?}"/??????????
before=$(places)
for point in $points; do
	naps=$(unique_seconds)
	rm -f "$T/ran"
	groups >"$T/groups"
	capture env "SBX_FAULT=$point:crash" "$faulty" run -p none --workdir new --disk 1M -m 64M --pids 50 -t 20s -- \
		sh -c 'echo ran >"$1"; (setsid sleep "$0" &); exec true' "$naps" "$T/ran"
	assert_ne "$rc" 0 "a keeper that crashed at $point"
	assert "nothing lives after a crash at $point" wait_until 3 none_with "$naps"
	assert "every run is settled after a crash at $point" wait_until 5 settled
	wait_until 10 no_new_groups || fail "left after a crash at $point: $(groups | comm -13 "$T/groups" -)"
	assert_eq "$(places)" "$before" "what is left after a crash at $point"
	case $point in
	start_release | start_exec | start_sources | end_*) ;;
	*) assert "the command did not run when $point crashed" test ! -e "$T/ran" ;;
	esac
	for r in "$SBX_RUN_DIR"/??????????/result.json; do
		[ -e "$r" ] || continue
		valid_result "$r"
		case $point:$(jq -r .outcome "$r"):$(test -e "$T/ran" && echo ran) in
		*:exited:ran | *:owner_exited:ran | start_*:could_not_run:) ;;
		start_*:owner_exited:) ;; # between exec and the first line of the script
		*) fail "after a crash at $point the result says $(jq -r .outcome "$r")" ;;
		esac
	done
	rm -rf "${SBX_RUN_DIR:?}"/??????????
done
capture "$SBXCTL" unload
assert_eq "$rc$err" 0 "unload: no row is left"
