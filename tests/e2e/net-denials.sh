#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# What is refused on the network is told, whoever refused it: hooks, or the filter, the covers and the scope that stand
# for them where BPF LSM does not attach (there as system calls return: advisory, and said so).
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"

need_root
need python3
mkdir -m 0755 "$T/outside"
chmod 0755 "$T"
python3 -c '
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(64); os.chmod(sys.argv[1], 0o777)
time.sleep(100)' "$T/outside/sock" &
listener=$!
cleanup() { kill "$listener" 2>/dev/null; }
assert "the listener listens" wait_until 60 [ -S "$T/outside/sock" ]
ln -s outside/sock "$T/link"
sleep 0.05
readlink "$T/link" >/dev/null # once followed it is at hand: whoever reports waits for no file system
cd "$T" || fail "no directory"

tries='
import socket, sys
def refused(call):
    try: call()
    except OSError: return
    raise SystemExit("allowed")
refused(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
for _ in range(3): refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
refused(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9))
for way in sys.argv[1], "link": refused(lambda: socket.socket(socket.AF_UNIX).connect(way))
s = socket.socket(socket.AF_UNIX); s.bind("own-" + sys.argv[2]); s.close()
refused(lambda: socket.socket(socket.AF_UNIX).connect("own-" + sys.argv[2]))
refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 255))
raise SystemExit(3)'
item() { result "[.denials.items[] | select(.act == \"$1\" and .object == \"$2\")] | map($3) | @csv"; }
told() { # WHAT SBXCTL-OPTIONS...
	local what=$1 lsm
	shift
	keep_result
	capture timeout 60 "$SBXCTL" run --result "$T/result.json" "$@" -- python3 -c "$tries" "$T/outside/sock" "${what// /-}"
	assert_eq "$rc" 3 "$what"
	lsm=$(result '.tier.clauses[] | select(.capability == "lsm_enforcement") | .enforced')
	assert_eq "$(item socket "AF_PACKET raw, protocol 0" .errno)" '"EPERM"' "$what: a packet socket"
	assert_eq "$(item socket "AF_INET raw, protocol 1" .count)" 3 "$what: a raw socket, thrice"
	assert_eq "$(item socket "AF_NETLINK raw, protocol 9" .errno)" '"EPERM"' "$what: netlink"
	assert_eq "$(result '[.denials.items[] | select(.object | contains("own-"))] | length')" 0 "$what: nobody listened"
	assert_match "$err" "sbxctl: denied: socket AF_PACKET raw, protocol 0 by " "$what: its line"
	if [ "$lsm" = true ]; then
		assert_eq "$(result '.denials.sources | @csv')" '"hook"' "$what: who told"
		return
	fi
	assert_match "$(result .denials.sources)" "syscall" "$what: who told"
	assert_eq "$(result .denials.complete)" false "$what: advisory"
		assert_eq "$(item connect "$T/outside/sock" .source)" '"syscall","syscall"' "$what: a covered socket, by two names"
	assert_eq "$(item connect "$T/outside/sock" .hint | cut -d, -f1)" "\"--allow-unix $T/outside/sock\"" "$what: its hint"
}
told "none" --net none
told "none, capabilities kept" -p none --net none
told "allow" --allow-net 192.0.2.1

# The hint works, and what is allowed is not told.
sbx_run --net none --allow-unix "$T/outside/sock" -- python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); raise SystemExit(3)' "$T/outside/sock"
assert_eq "$rc $(result .denials.total)" "3 0" "with the hint"
