#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 1: a run always returns with a record; nothing inside can crash or hang its caller.
. "$(dirname "$0")/../lib/lib.sh"

printf '\177ELF' >"$T/truncated"
chmod 755 "$T/truncated"
ulimit -c 0
limit=$(slow_ms 5000)

child() { # STATUS SCRIPT: sbxctl's status is this, a record says how, and it did not take long
	sbx_run -t 30 -- bash -c "$2"
	assert_eq "$rc" "$1" "status of: $2"
	assert_match "$(result .outcome)" '^(exited|signaled)$' "outcome of: $2"
	assert_le "$took_ms" "$limit" "milliseconds of: $2"
	assert_result .tree.survivors 0
}

child 139 'kill -SEGV $$'
child 134 'kill -ABRT $$'
child 137 'kill -KILL $$'
child 137 'kill -KILL 0'
child 143 'sleep 1000 & sleep 1000 & kill -TERM 0; wait'
child 4 'exec 0<&- 1>&- 2>&-; exit 4'
child 5 'for fd in /proc/self/fd/*; do fd=${fd##*/}; eval "exec $fd>&-"; done; exit 5'
child 126 "exec $T/truncated"
child 3 '(while :; do echo still writing; done) & exit 3'
child 6 'setsid bash -c "trap \"\" TERM HUP; while :; do echo still writing; done" & exit 6'
child 7 '(sleep 0.1; echo late >&2) & echo early; exit 7'
child 141 'exec 1> >(exit 0); sleep 0.2; kill -PIPE $$'
child 0 'ulimit -n 4; ulimit -f 0; ulimit -s 64; exit 0'
child 8 'd=$(mktemp -d); cd "$d"; rmdir "$d"; exit 8'
child 0 'for ((i = 0; i < 200; i++)); do (exit $i) & done; exit 0'
child 1 'exec /usr/bin/python3 -c "import sys; sys.stdout.buffer.write(bytes(range(256)) * 400); sys.exit(1)"'
child 0 'exec /usr/bin/python3 -c "
import os, threading, time
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
if os.fork() == 0:
    os.setsid(); time.sleep(1000)
os._exit(0)"'
