#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 97: owned work does not outlive its owner, however the owner ends: exit, SIGKILL, a closed descriptor; an
# owner that becomes another program or loses a thread has not ended.
. "$(dirname "$0")/../lib/lib.sh"

soon=$(slow_ms 1000)
n=0
sbx_run -- true # loads the kernel half, which takes its time in an emulated machine

started() { # OPTIONS: a run in the background of nobody's, with a cookie of its own
	cookie=$(unique_seconds)
	((n += 1))
	setsid "$SBXCTL" run -p none --result "$T/result.$n.json" "$@" -- \
		sh -c "setsid sleep $cookie & trap '' TERM HUP; sleep $cookie; sleep $cookie" >/dev/null 2>&1 &
	assert "the run starts" wait_until 10 test_with 2
}
test_with() { [ "$(pids_with "$cookie" | grep -c .)" = "$1" ]; }

dies() { # HOW COMMAND...
	local how=$1 begin
	shift
	begin=$(date +%s%N)
	"$@"
	wait_until 5 none_with "$cookie" || fail "alive after its owner's end: $how"
	assert_le $((($(date +%s%N) - begin) / 1000000)) "$soon" "milliseconds: $how"
	assert "the result comes: $how" wait_until 5 test -s "$T/result.$n.json"
	assert_eq "$(jq -c '[.outcome, .killed_by, .tree.survivors]' "$T/result.$n.json")" '["owner_exited","owner",0]' "$how"
}

# The parent, which is the owner unless one is named.
cookie=$(unique_seconds)
n=1
sh -c "'$SBXCTL' run -p none --result '$T/result.1.json' -- sh -c 'setsid sleep $cookie & sleep $cookie' & wait" 2>/dev/null &
parent=$!
assert "the run starts" wait_until 10 test_with 2
dies "the parent is SIGKILLed" kill -KILL $parent
wait $parent 2>/dev/null

cookie=$(unique_seconds)
n=2
mkfifo "$T/go"
sh -c "'$SBXCTL' run -p none --result '$T/result.2.json' -- sh -c 'setsid sleep $cookie & sleep $cookie' & read x <'$T/go'" &
assert "the run starts" wait_until 10 test_with 2
dies "the parent exits" sh -c "echo >'$T/go'"

# A process that is named, and one that execs meanwhile.
sh -c "read x <'$T/go'; exec sleep 1001" &
owner=$!
started --owner $owner
echo >"$T/go"
assert "the owner becomes another program" wait_until 5 pgrep -x -P $$ sleep
sleep 0.2
assert "an exec is no end" test_with 2
dies "the owner that was named is SIGKILLed" kill -KILL $owner

# A thread's end is no end.
/usr/bin/python3 -c "
import threading, time
t = threading.Thread(target=time.sleep, args=(0.8,)); t.start(); t.join(); open('$T/joined', 'w'); time.sleep(1000)" &
owner=$!
started --owner $owner
assert "the owner's thread ends" wait_until 10 test -e "$T/joined"
sleep 0.2
assert "a thread's end is no end" test_with 2
dies "the owner with a dead thread is terminated" kill $owner

# A descriptor.
mkfifo "$T/line"
exec 8<>"$T/line"
exec 7<"$T/line" 9>"$T/line" 8<&-
started --owner fd:7 7<&7 9<&-
echo "words are no end" >&9
sleep 0.2
assert "what comes through its descriptor ends nothing" test_with 2
close_line() { exec 9>&-; }
dies "the other end of its descriptor is closed" close_line
exec 7<&-

# Nobody: it outlives whoever started it.
cookie=$(unique_seconds)
n=99
sh -c "'$SBXCTL' run -p none --owner none --result '$T/result.99.json' -- sh -c 'exec sleep $cookie' & sleep 0.3" 2>/dev/null
assert "the run starts" wait_until 10 test_with 1
sleep 0.3
assert "a run without owner lives on" test_with 1
kill "$(pids_with "$cookie")"
assert "its result comes" wait_until 5 test -s "$T/result.99.json"
assert_eq "$(jq -c '[.outcome, .signal]' "$T/result.99.json")" '["signaled",15]' "a run without owner"

# A pidfd that is handed over.
/usr/bin/python3 -c "
import os, subprocess, sys
owner = subprocess.Popen(['sleep', '1000'])
fd = os.pidfd_open(owner.pid)
run = subprocess.Popen(sys.argv[1:3] + ['-p', 'none', '--owner', f'fd:{fd}', '--', 'sleep', '1000'], pass_fds=[fd])
try: run.wait(0.5); sys.exit(1)
except subprocess.TimeoutExpired: owner.kill()
sys.exit(0 if run.wait(10) == 137 else 2)" "$SBXCTL" run 2>/dev/null
assert_eq $? 0 "a pidfd as owner"
sbx_run --owner fd:8 -- touch "$T/ran" 8<"$0"
assert_eq "$rc" 125 "status with a file as owner"
assert_one_line "$err" '^sbxctl: --owner fd:8: a file has no end' "its line"

sbx_run --owner 2147483000 -- touch "$T/ran"
assert_eq "$rc" 125 "status with an owner that does not live"
assert_one_line "$err" '^sbxctl: owner 2147483000 does not live' "its line"

# Nor one that is sbxctl itself, in front or behind, that cannot end, or that the caller has no power over.
refused() { # LINE, of the last capture
	assert_eq "$rc" 125 "status: $1"
	assert_one_line "$err" "^sbxctl: $1" "its line"
}
for front in '' -d '--leftovers keep'; do
	# shellcheck disable=SC2086
	capture sh -c 'exec "$0" run -p none '"$front"' --owner $$ -- touch "$1"' "$SBXCTL" "$T/ran"
	refused 'owner [0-9]+ is this sbxctl itself'
done
sbx_run --owner 1 -- touch "$T/ran"
refused 'owner 1 ends with the machine'
setpriv --reuid 65534 --clear-groups sleep 1000 &
assert "somebody else's process runs" wait_until 5 eval '[ "$(stat -c %u /proc/'$!')" = 65534 ]'
capture setpriv --bounding-set -kill --inh-caps -kill "$SBXCTL" run -p none --owner $! -- touch "$T/ran"
refused 'owner [0-9]+ is another user'
sbx_run --owner $! -- true
assert_eq "$rc" 0 "another user's, with the authority"
kill $!
assert "nothing ran" test ! -e "$T/ran"
