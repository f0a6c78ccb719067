#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 48: the command inherits no descriptor, terminal, session or signal state; umask, nice, affinity, limits and
# directory it does.
. "$(dirname "$0")/../lib/lib.sh"

echo secret >"$T/secret"
exec 57<"$T/secret" 9>"$T/other"
sbx_run -- sh -c 'echo /proc/self/fd/*; readlink /proc/$$/fd/57'
assert_eq "$out" "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3" "descriptors of a shell that lists them"
sbx_run -- bash -c 'for fd in /proc/$$/fd/*; do echo "${fd##*/} $(readlink "$fd")"; done' # a pipe of its own would be seen on its way
assert_match "$(grep -vE "^255 |^3 " <<<"$out")" '^0 /dev/null
1 pipe:\[[0-9]+\]
2 pipe:\[[0-9]+\]$' "descriptors"
exec 57<&- 9>&-

sbx_run -- sh -c ': </dev/tty'
assert_ne "$rc" 0 "opening /dev/tty"
sbx_run -- sh -c 'echo $$ $(cut -d" " -f5,6,7 /proc/$$/stat)'
read -r pid pgrp session tty <<<"$out"
assert_eq "$pgrp $session $tty" "$pid $pid 0" "process group, session and terminal"

# A caller that ignores and blocks what it can.
cat >"$T/deaf.py" <<-'END'
	import ctypes, os, signal, sys
	ignore = (ctypes.c_ulong * 4)(1)  # the kernel's struct sigaction with SIG_IGN: 32 and 33 are libc's own
	for number in range(1, 65):
	    if number not in (9, 19):
	        assert ctypes.CDLL(None).syscall(13, number, ignore, None, 8) == 0
	signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
	os.execv(sys.argv[1], sys.argv[1:])
END
capture /usr/bin/python3 "$T/deaf.py" "$SBXCTL" run -p none -- cat /proc/self/status
assert_eq "$(grep -E '^Sig(Blk|Ign)' <<<"$out" | cut -f2 | sort -u)" 0000000000000000 "blocked and ignored signals inside"
assert_eq "$rc" 0 "status under a deaf caller"

(
	umask 027
	ulimit -S -n 777
	cd "$T" || exit 1
	exec nice -n 5 taskset -c 0 "$SBXCTL" run -p none -- \
		bash -c 'echo $(umask) $(ulimit -n) $(nice) $(taskset -pc $$ | sed "s/.*: //") $PWD'
) >"$T/out"
assert_eq "$(cat "$T/out")" "0027 777 5 0 $T" "umask, limit, nice value, affinity and directory"
