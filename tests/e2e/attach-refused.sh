#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 169, and bad input: each is one line that says why, and nothing has changed.
. "$(dirname "$0")/../lib/lib.sh"

cleanup() { kill -KILL "$sleeper" 2>/dev/null; }
sleep "$(unique_seconds)" &
sleeper=$!

refused() { # STATUS WORDS ARGUMENTS...
	local status=$1 words=$2
	shift 2
	capture "$SBXCTL" attach "$@"
	assert_eq "$rc$out" "$status" "status and stdout of attach $*"
	assert_one_line "$err" "^sbxctl attach: .*$words" "attach $*"
}
thread() { # a thread that is no process
	python3 -c 'import threading, time; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start(); time.sleep(1000)' &
	owner=$!
	wait_until 5 test "$(find "/proc/$owner/task" -mindepth 1 -maxdepth 1 | wc -l)" = 2
	basename "$(find "/proc/$owner/task" -mindepth 1 -maxdepth 1 ! -name $owner)"
}

refused 1 'process 1 is init' -p none 1
refused 1 'process 2147483647 does not exist' -p none 2147483647
refused 1 "process $$ started this command" -p none $$
refused 1 "process $PPID started this command" -p none $PPID
kthread=$(ps -e -o pid=,ppid= | awk '$2 == 2 { print $1; exit }')
[ -z "$kthread" ] || refused 1 "process $kthread is a thread of the kernel" -p none "$kthread"
sh -c 'exit 0' &
zombie=$!
is_zombie() { [ "$(ps -o stat= -p "$zombie" | cut -c1)" = Z ]; }
wait_until 2 is_zombie && refused 1 "process $zombie has ended" -p none "$zombie"

for word in 0 -1 abc 99999999999; do
	capture "$SBXCTL" attach -p none -- "$word"
	assert_eq "$rc" 2 "status of attach $word"
done
refused 2 'which process' -p none
refused 2 "unexpected '$$'; one process at a time" -p none "$sleeper" $$
refused 1 '--allow-net example.org: an attached tree asks its own resolver; give addresses' --allow-net example.org "$sleeper"
refused 1 '-m|--memory: an attached tree stays in its own control groups' -p none -m 64M "$sleeper"
refused 1 '--nofile: this cannot be put on a process that runs already' -p none --nofile 10 "$sleeper"
refused 1 '--leftovers: the process runs already' -p none --leftovers wait "$sleeper"
refused 1 'owner 2147483647 does not live' -p none --owner 2147483647 "$sleeper"
capture "$SBXCTL" attach --no-such "$sleeper"
assert_eq "$rc" 2 "status of an unknown option"

# From inside a run: its own would be of two.
sbx_run -e SBX_RUN_DIR -- sh -c "'$SBXCTL' attach -p none $sleeper"
assert_match "$err" 'this command is in run .* already' "from inside"

# Names authorise nothing: another user has neither the right nor the record.
capture setpriv --reuid 65534 --regid 65534 --clear-groups "$SBXCTL" attach -p none "$sleeper"
assert_eq "$rc" 1 "status for another user"
assert_match "$err" 'attach needs root|Permission denied|permission' "another user"

# Only what was attached to can be let go.
id=$("$SBXCTL" run -p none -d -- sleep 1000)
capture "$SBXCTL" detach "$id"
assert_eq "$rc" 1 "status of detach of a run"
assert_one_line "$err" 'was started, not attached to' "its line"
"$SBXCTL" kill "$id"

assert "the process is alive" alive "$sleeper"
assert_eq "$("$SBXCTL" ps --json | jq length)" 0 "runs left"
