#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 240
# A rule that names a host: what it leads to is reached, by every program's own way to resolve, and nothing else; other
# names are refused and told. In namespaces of the test's own, against dnsmasq, with public addresses on its loopback.
# shellcheck disable=SC2016
if [ -z "${NET_NAMES_INSIDE:-}" ] && [ "$(id -u)" = 0 ]; then
	NET_NAMES_INSIDE=1 exec unshare -nm "$0" "$@"
fi
. "$(dirname "$0")/../lib/lib.sh"

need_root
need python3 dnsmasq ip
good=93.184.216.34 other=93.184.216.35 six=2606:2800:21f::1
ip link set lo up
for a in $good $other; do ip addr add "$a/32" dev lo; done
ip addr add "$six/128" dev lo 2>/dev/null || six=
echo 'nameserver 127.0.0.1' >"$T/resolv.conf"
mount --bind "$T/resolv.conf" /etc/resolv.conf
many=()
for i in $(seq 40); do many+=("--host-record=many.example.org,93.184.217.$i"); done
dnsmasq -k -C /dev/null -R -h -u root -p 53 -a 127.0.0.1 -z --pid-file= --log-facility=/dev/null --local-ttl=60 \
	--host-record=api.example.org,$good${six:+,$six} --cname=www.example.org,api.example.org --host-record=other.example.net,$other \
	--address=/rebind.example.org/127.0.0.1 ${six:+--host-record=six.example.org,$six} "${many[@]}" &
dns=$!
mkdir -m 0755 "$T/outside" "$T/web"
echo "hello from outside" >"$T/web/index.html"
"$LIB_ROOT/tests/lib/listener" "$T/outside" $good $other 127.0.0.1 $six &
listener=$!
(cd "$T/web" && exec python3 -m http.server --bind $good 8080 >/dev/null 2>&1) &
web=$!
cleanup() { kill "$dns" "$listener" "$web" 2>/dev/null; }
assert "the listener listens" wait_until 60 [ -s "$T/outside/where" ]
serves() { python3 -c 'import socket, sys; socket.create_connection((sys.argv[1], 8080), 1)' $good 2>/dev/null; }
assert "the server serves" wait_until 60 serves
resolves() { getent ahostsv4 api.example.org >/dev/null; }
assert "the control resolves" wait_until 60 resolves
arrivals() { grep -c . "$T/outside/arrivals"; }
port() { jq -r --arg a "$1" '.inet[] | select(.[0] == $a) | .[1]' "$T/outside/where"; }
mkdir "$T/work"
cd "$T/work" || fail "no directory"

rules=(--allow-net api.example.org:8080 --allow-net '*.example.org:8080')
named() { # WHAT COMMAND...: works, with those rules
	local what=$1
	shift
	keep_result
	PATH=/usr/local/bin:/usr/bin:/bin capture timeout 60 "$SBXCTL" run --result "$T/result.json" "${rules[@]}" -- "$@"
	[ "$rc" = 0 ] || fail "$what: status $rc"
}
fetch='import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode(), end="")'
named "python" python3 -c "$fetch" http://api.example.org:8080/
assert_eq "$out" "hello from outside" "python"
named "an alias" python3 -c "$fetch" http://www.example.org:8080/
if command -v curl >/dev/null; then
	named "curl" curl -sS -m 10 http://api.example.org:8080/
	assert_eq "$out" "hello from outside" "curl"
fi
if command -v node >/dev/null; then
	named "node" node -e 'fetch("http://api.example.org:8080/").then(r => r.text()).then(t => process.stdout.write(t))'
	assert_eq "$out" "hello from outside" "node"
	named "node, c-ares" node -e 'require("dns").resolve4("api.example.org", (e, a) => { if (e) throw e; console.log(a.join()) })'
	assert_eq "$out" "$good" "node, c-ares"
fi
if command -v git >/dev/null; then
	git init -q "$T/seed" && git -C "$T/seed" -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m one &&
		git clone -q --bare "$T/seed" "$T/web/repo.git" && git -C "$T/web/repo.git" update-server-info || fail "no repository"
	named "git over http" git clone -q http://api.example.org:8080/repo.git clone
	assert_eq "$(git -C clone log --format=%s)" one "git over http"
fi
if command -v javac >/dev/null; then
	cat >Get.java <<-'END'
		class Get {
			public static void main(String[] a) throws Exception {
				System.out.write(new java.net.URL(a[0]).openStream().readAllBytes());
				System.out.flush();
			}
		}
	END
	javac -nowarn Get.java 2>/dev/null || fail "no class"
	named "java" java -Xint -cp . Get http://api.example.org:8080/
	assert_eq "$out" "hello from outside" "java"
fi
# A resolver that asks by itself, without the C library of the host.
if command -v musl-gcc >/dev/null; then
	musl-gcc -static -x c -o musl-lookup - <<-'END' || fail "no musl-lookup"
		#include <netdb.h>
		int main(void) { struct addrinfo *a; return getaddrinfo("api.example.org", "80", 0, &a) != 0; }
	END
	named "musl, static" ./musl-lookup
fi
named "more than a datagram holds" python3 -c '
import socket; n = {a[4][0] for a in socket.getaddrinfo("many.example.org", 8080, socket.AF_INET)}; print(len(n))'
assert_ge "$out" 30 "addresses over TCP"
if [ -n "$six" ]; then
	named "IPv6 alone" python3 -c 'import socket; print(socket.getaddrinfo("six.example.org", 80)[0][4][0])'
	assert_eq "$out" "$six" "IPv6 alone"
fi
before=$(arrivals)

# Not the other port of that address, not the other address, not by an address alone, not by another name server.
sbx_run "${rules[@]}" -- python3 -c '
import errno, socket, sys
def refused(what, call, *wanted):
    try: call()
    except OSError as e:
        if e.errno not in wanted and not isinstance(e, socket.gaierror): raise SystemExit(f"{what}: {e}")
    else: raise SystemExit(f"{what}: allowed")
good, port, other, other_port = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
refused("before it was asked for", lambda: socket.create_connection((good, 8080), 3), errno.EPERM, errno.EACCES)
socket.create_connection(("api.example.org", 8080), 5)
socket.create_connection((good, 8080), 5)
refused("another port", lambda: socket.create_connection(("api.example.org", port), 3), errno.EPERM, errno.EACCES)
refused("another address", lambda: socket.create_connection((other, other_port), 3), errno.EPERM, errno.EACCES)
refused("another name", lambda: socket.create_connection(("other.example.net", 8080), 3))
refused("the name above", lambda: socket.getaddrinfo("example.org", 80))
refused("a name that leads inside", lambda: socket.create_connection(("rebind.example.org", 8080), 3))
def ask(): s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("127.0.0.1", 53))
refused("another name server", ask, errno.EPERM, errno.EACCES)' $good "$(port $good)" $other "$(port $other)"
assert_eq "$rc $err" "0 " "what else there is"
assert_eq "$(arrivals)" "$before" "arrivals at the listener"

# The record names them, with an option that works.
item() { result ".denials.items[] | select(.act == \"$1\" and .object == \"$2\") | $3"; }
assert_eq "$(item resolve other.example.net .hint)" "--allow-net other.example.net" "the refused name"
assert_ge "$(item resolve other.example.net .count)" 1 "how often"
assert_match "$(result '.denials.items[] | select(.act == "resolve") | .object')" "rebind.example.org, which leads to 127.0.0.1" "the name that leads inside"
assert_eq "$(item connect "$other:$(port $other)" .errno)" EPERM "the refused address"
assert_eq "$(item connect "$other:$(port $other)" .name)" null "no name that was not asked for"
assert_eq "$(item connect "$good:$(port $good)" .name)" api.example.org "the name of a refused address"
assert_eq "$(item connect "$good:$(port $good)" .hint)" "--allow-net api.example.org:$(port $good)" "its hint"
sbx_run "${rules[@]}" --allow-net "api.example.org:$(port $good)" -- python3 -c 'import socket, sys; socket.create_connection(("api.example.org", int(sys.argv[1])), 5)' "$(port $good)"
assert_eq "$rc" 0 "with that hint"
assert_eq "$(arrivals)" $((before + 1)) "its arrival"
before=$((before + 1))
sbx_run "${rules[@]}" --allow-net other.example.net -- python3 -c 'import socket, sys; socket.create_connection(("other.example.net", int(sys.argv[1])), 5)' "$(port $other)"
assert_eq "$rc" 0 "with what was hinted"
assert_eq "$(arrivals)" $((before + 1)) "its arrival"
sbx_run "${rules[@]}" -- sh -c 'getent hosts other.example.net; exit 3'
assert_match "$err" "sbxctl: denied: resolve other.example.net by --net allow; allowed by --allow-net other.example.net" "its line"

# Nobody's resolver is left, and one that cannot ask says so, soon.
none_left() { ! pgrep -x sbx-resolver >/dev/null; }
assert "no resolver is left" wait_until 5 none_left
kill "$dns"
wait "$dns" 2>/dev/null
sbx_run "${rules[@]}" -- sh -c 'timeout 30 getent hosts api.example.org'
assert_eq "$rc" 2 "an upstream that is gone, inside"
assert_match "$err" "the host's name servers did not answer for api.example.org: " "an upstream that is gone, outside"
