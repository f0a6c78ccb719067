#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 400
# Contracts 84, 95: under --net none nothing arrives anywhere, whatever the tree tries. The oracle is a listener outside
# that counts what arrives; the same tries from outside are the control, and have to arrive.
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
arrivals() { grep -c "${1:-.}" "$T/outside/arrivals"; }

# What is tried, by kind: $control has what arrives when nobody forbids it.
"$T/dial" "$T/outside/where" >"$T/control"
for kind in tcp udp unix abstract; do assert_ge "$(arrivals "^$kind")" 2 "control: $kind"; done
for kind in tcp raw; do grep -q "^$kind .* ok$" "$T/control" || fail "the control does not get out: $kind"; done

# The errno of each kind inside. Datagrams into an empty namespace leave it as little as anything else.
check() { # WHAT SBXCTL-OPTIONS...
	local what=$1 kind towards said lsm
	shift
	: >"$T/outside/arrivals"
	cd "$T" || fail "no $T"
	keep_result
	capture timeout 60 "$SBXCTL" run --result "$T/result.json" "$@" -- ./dial outside/where
	cd / || fail "no /"
	assert_eq "$rc" 0 "$what: dial"
	assert_ge "$(grep -c . <<<"$out")" 30 "$what: tries"
	lsm=$(result '.tier.clauses[] | select(.capability == "lsm_enforcement") | .enforced')
	while read -r kind towards said; do
		case $kind in
		raw | raw_icmp | ping | packet* | sctp | udplite | tcp_mptcp | netlink_* | alg | vsock | xdp | bluetooth | can | tipc)
			assert_eq "$said" EPERM "$what: $kind $towards"
			;;
		uring) [ "$lsm" = true ] || assert_eq "$said" ENOSYS "$what: $kind" ;; # else judged as its task is
		tcp | tcp_mapped | tcp_from_thread | unix_* | abstract_*) assert_ne "$said" ok "$what: $kind $towards" ;;
		esac
	done <<<"$out"
	assert_eq "$(arrivals)" 0 "$what: arrivals"
	assert_eq "$(result '.tier.clauses[] | select(.capability == "network_restriction") | .enforced')" true "$what: the clause"
	assert_match "$(result .tier.sentence)" "network namespace" "$what: the sentence"
}
check "root, capabilities kept" -p none --net none
check "default" --net none
check "default, unsaid"
check "as a user" -u nobody

# From a daemon of the tree that left session and parent, and from a namespace of users.
: >"$T/outside/arrivals"
cd "$T" || fail "no $T"
sbx_run --net none --leftovers wait -- sh -c 'setsid -f sh -c "sleep 0.2; exec ./dial outside/where tcp udp raw unix abstract" >left'
assert_eq "$rc" 0 "a daemon of the tree"
assert_ge "$(grep -c . left)" 5 "its tries"
sbx_run -u nobody --net none -- unshare -Urn ./dial outside/where tcp udp raw packet unix abstract
assert_eq "$(arrivals)" 0 "from a daemon, and a user namespace"

# Out of the namespace by its file, by a socket that somebody hands over, by root who keeps everything.
sbx_run --net none -- nsenter --net="/proc/$listener/ns/net" ./dial outside/where tcp udp
assert_ne "$rc" 0 "nsenter"
sbx_run --net none -- sh -c 'umount outside/stream 2>/dev/null; umount -l outside/stream 2>/dev/null; ./dial outside/where unix'
assert_eq "$(arrivals)" 0 "from outside's namespace"

# --allow-unix opens one, and only that one.
sbx_run --net none --allow-unix "$T/outside/stream" -- ./dial outside/where
assert_eq "$(grep -c . "$T/outside/arrivals")" "$(grep -c '^unix$' "$T/outside/arrivals")" "what --allow-unix opens"
assert_eq "$(arrivals)" 1 "what --allow-unix opens"

# And after all that the control still arrives.
before=$(arrivals)
"$T/dial" "$T/outside/where" tcp udp unix abstract >/dev/null
assert_ge "$(arrivals)" $((before + 6)) "the control, afterwards"

# The host's network is unrestricted, and says so.
sbx_run --net host -- ./dial outside/where tcp
assert_match "$out" "ok" "--net host"
assert_eq "$(result '.tier.clauses[] | select(.capability == "network_restriction") | [.mechanism, .enforced] | @json')" '["unrestricted",false]' "--net host in the record"
