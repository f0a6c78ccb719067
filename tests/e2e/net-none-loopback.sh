#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# --net none breaks nothing that stays inside: servers on the loopback, sockets of the tree's own, interfaces.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"

need_root
need python3
mkdir "$T/work"
cd "$T/work" || fail "no directory"
inside() { # WHAT COMMAND...
	local what=$1
	shift
	keep_result
	PATH=/usr/local/bin:/usr/bin:/bin capture timeout 60 "$SBXCTL" run --net none --result "$T/result.json" -- "$@"
	[ "$rc" = 0 ] || fail "$what: status $rc"
}

inside "python http.server" python3 -c '
import functools, http.server, threading, urllib.request
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="/etc")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
assert urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/hostname", timeout=10).read() == open("/etc/hostname", "rb").read()
assert urllib.request.urlopen(f"http://localhost:{server.server_port}/hostname", timeout=10).status == 200'
inside "asyncio, unix sockets, datagrams" python3 -c '
import asyncio, socket
async def main():
    async def echo(r, w):
        w.write(await r.readline()); await w.drain(); w.close()
    for start, dial in ((lambda: asyncio.start_server(echo, "127.0.0.1", 0), lambda s: asyncio.open_connection(*s.sockets[0].getsockname()[:2])),
                        (lambda: asyncio.start_unix_server(echo, "sock"), lambda s: asyncio.open_unix_connection("sock")),
                        (lambda: asyncio.start_unix_server(echo, "\0sbx-own"), lambda s: asyncio.open_unix_connection("\0sbx-own"))):
        server = await start()
        r, w = await dial(server)
        w.write(b"word\n")
        assert await r.readline() == b"word\n"
        server.close()
asyncio.run(main())
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(("127.0.0.1", 0)); a.settimeout(10)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", a.getsockname())
assert a.recv(9) == b"x"
left, right = socket.socketpair(); left.send(b"x"); assert right.recv(9) == b"x"'
inside "interfaces" python3 -c '
import ctypes, socket
assert socket.if_nameindex() == [(1, "lo")]
class ifaddrs(ctypes.Structure): pass
ifaddrs._fields_ = [("next", ctypes.POINTER(ifaddrs)), ("name", ctypes.c_char_p)]
p = ctypes.POINTER(ifaddrs)()
assert ctypes.CDLL(None).getifaddrs(ctypes.byref(p)) == 0 and p.contents.name == b"lo"
assert socket.getaddrinfo("localhost", 80)
try: socket.getaddrinfo("example.org", 80)
except socket.gaierror: pass
else: raise SystemExit("a name was resolved")'
if command -v node >/dev/null; then
	inside "node http" node -e '
const http = require("http"), os = require("os"), assert = require("assert");
assert.deepStrictEqual(Object.keys(os.networkInterfaces()), ["lo"]);
const server = http.createServer((q, s) => s.end("word")).listen(0, "127.0.0.1", () =>
	http.get({ port: server.address().port, host: "127.0.0.1" }, r => r.on("data", d => { assert.equal(String(d), "word"); server.close(); })));'
fi
if command -v git >/dev/null; then
	inside "git" sh -ec 'git init -q repo && cd repo && git -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m one && git clone -q . ../clone'
fi
inside "a name that cannot be resolved fails at once" sh -c '! timeout 8 getent hosts example.org'

# Two runs at once do not see each other, and the same port is free in both.
sbx_run --net none -d -- python3 -m http.server --bind 127.0.0.1 18080
one=$out
inside "the same port, beside" timeout 20 python3 -c '
import socket
s = socket.socket(); s.bind(("127.0.0.1", 18080)); s.listen()
c = socket.create_connection(s.getsockname(), 5)
assert s.accept()[1] == c.getsockname()'
"$SBXCTL" stop "$one" >/dev/null
