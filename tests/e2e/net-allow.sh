#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 400
# Contracts 84, 85, 87: with --net allow what is named arrives, exactly as often as it was tried, and nothing else does,
# by whatever way. The oracle is a listener outside that counts; the control dials from outside.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"

need_root
need python3
mkdir -m 0755 "$T/outside"
for tool in listener dial; do cp "$LIB_ROOT/tests/lib/$tool" "$T/"; done
mapfile -t addresses < <(hostname -I 2>/dev/null | tr ' ' '\n' | grep -v '^fe80' | grep .)
"$T/listener" "$T/outside" 127.0.0.1 ::1 "${addresses[@]}" 2>/dev/null &
listener=$!
cleanup() { kill "$listener" 2>/dev/null; }
assert "the listener listens" wait_until 60 [ -s "$T/outside/where" ]
chmod 0755 "$T"
cd "$T" || fail "no directory"
arrivals() { grep -c "${1:-.}" "$T/outside/arrivals"; }
port=$(jq -r '.inet[0][1]' outside/where)
"$T/dial" outside/where tcp udp unix abstract >control
for kind in tcp udp unix abstract; do assert_ge "$(arrivals "^$kind")" 2 "control: $kind"; done

dial() { # SBXCTL-OPTIONS... -- KINDS...: $out has what each try came to
	: >outside/arrivals
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	sbx_run "${options[@]}" -- ./dial outside/where "$@"
	assert_eq "$rc" 0 "dial ${options[*]}"
}

# Nothing is named but a place where nobody is: nothing arrives.
dial --allow-net 192.0.2.1:9 --
assert_eq "$(arrivals)" 0 "arrivals where nothing is allowed"
assert_no_match "$out" "^(raw|packet|ping|sctp|tcp_mptcp|udplite|netlink_[a-z]*|alg|vsock|xdp)[^"$'\n'"]* ok" "odd sockets"

# One TCP port: all that is TCP to it arrives, by IPv4 and mapped, and nothing that is not.
dial --allow-net "127.0.0.1:$port" -- tcp tcp_mapped tcp_fast_open tcp_from_thread udp udp_connected udp_mapped udp_unspecified unix abstract
assert_eq "$(arrivals '^tcp$')" 4 "arrivals at the named port"
assert_eq "$(arrivals)" 4 "arrivals in all"
[ "${#addresses[@]}" = 0 ] || assert_match "$out" "tcp ${addresses[0]}[^ ]* EPERM" "the same host by another address"
dial --allow-net "127.0.0.1:$port/udp" -- tcp udp udp_connected udp_mapped udp_unspecified
assert_eq "$(arrivals '^udp$') $(arrivals '^tcp$')" "4 0" "UDP alone"

# A wide range does not reach what has to be named itself.
dial --allow-net 0.0.0.0/0 --allow-net ::/0 -- tcp udp tcp_mapped
[ "${#addresses[@]}" != 0 ] || assert_eq "$(arrivals)" 0 "loopback by a wide range"
assert_no_match "$out" "(127\.0\.0\.1|::1):[0-9]+ ok" "loopback by a wide range"
dial --allow-net "127.0.0.0/8:$((port - 1))-$((port + 1))" -- tcp
assert_eq "$(arrivals)" 1 "a range of ports"

# A socket with a path, and its record; the hints work as they are printed.
dial --allow-net 192.0.2.1 --allow-unix "$T/outside/dgram" -- tcp unix abstract
assert_eq "$(arrivals) $(arrivals '^unix$')" "1 1" "--allow-unix"
item=$(result '.denials.items[] | select(.act == "connect" and (.object | startswith("127.0.0.1:"))) | .hint')
assert_eq "$item" "--allow-net 127.0.0.1:$port" "the hint"
# shellcheck disable=SC2086 # it is options
dial $item -- tcp
assert_eq "$(arrivals)" 1 "with the hint"

# What stays inside works: loopback ports that the tree itself listens on.
sbx_run --allow-net 192.0.2.1 -- python3 -c '
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
c = socket.create_connection(s.getsockname(), 5)
assert s.accept()[1] == c.getsockname()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0)); u.settimeout(5)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", u.getsockname()); assert u.recv(9) == b"x"
p = socket.socket(socket.AF_UNIX); p.bind("own"); p.listen(); socket.socket(socket.AF_UNIX).connect("own")'
assert_eq "$rc $err" "0 " "what stays inside"

# Who may be dialled: the ports that were named.
bind='import socket, sys; s = socket.socket(); s.bind(("0.0.0.0", int(sys.argv[1]))); s.listen()'
sbx_run --allow-net 192.0.2.1 -- python3 -c "$bind" 18099
assert_ne "$rc" 0 "a port that was not named"
sbx_run --allow-net 192.0.2.1 --allow-bind 18099 -- python3 -c "$bind" 18099
assert_eq "$rc" 0 "--allow-bind"

# Sixteen clients, all at once: no wrong verdict.
bad=$(jq -r '.inet[1] // empty | @tsv' outside/where)
[ -n "$bad" ] || exit 0
: >outside/arrivals
# shellcheck disable=SC2086 # an address and a port
sbx_run --allow-net "127.0.0.1:$port" -- python3 -c '
import collections, socket, sys, threading
good, bad, seen = ("127.0.0.1", int(sys.argv[1])), (sys.argv[2], int(sys.argv[3])), collections.Counter()
def dial(to):
    try: socket.create_connection(to, 10).close()
    except PermissionError: return "refused"
    except OSError as e: return repr(e)
    return "reached"
def client():
    for _ in range(100):
        seen["good", dial(good)] += 1
        seen["bad", dial(bad)] += 1
all = [threading.Thread(target=client) for _ in range(16)]
[t.start() for t in all]; [t.join() for t in all]
if seen != {("good", "reached"): 1600, ("bad", "refused"): 1600}: raise SystemExit(str(seen))' "$port" $bad
assert_eq "$rc $err" "0 " "verdicts"
all_in() { [ "$(arrivals)" = 1600 ]; }
assert "each connection arrives, once" wait_until 10 all_in
