#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whatever clients send, and however many there are, the keeper goes on, answers others, and holds nothing for them.
. "$(dirname "$0")/../lib/lib.sh"
need_root

id=$("$SBXCTL" run -p none -d -t 60s -- sh -c 'i=0; while :; do echo "$((i=i+1)) ...................................."; sleep 0.01; done')
running() { [ "$("$SBXCTL" inspect "$id" | jq -r .status.state)" = running ]; }
assert "it runs" wait_until 5 running
keeper=$("$SBXCTL" inspect "$id" | jq .status.keeper_pid)
rss() { awk '/^RssAnon/ { print $2 }' "/proc/$keeper/status"; }
before=$(rss)

/usr/bin/python3 - "$SBX_RUN_DIR/$id/sock" >"$T/out" 2>"$T/err" <<'EOF' || fail "the client saw what it should not"
import json, os, random, socket, sys, time

def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    s.settimeout(5)
    return s

def ask(s, data):
    s.send(data)
    return json.loads(s.recv(1 << 17))

random.seed(7)
garbage = [b"\0", b"{", b"[]", b"null", b"{\"op\":\"status\",\"x\":1}", b"\xff" * 100, b"{\"op\":" + b"[" * 3000,
           b"{\"op\":\"signal\",\"signal\":1e99}"] + [os.urandom(random.randrange(1, 2000)) for _ in range(200)]
s = connect()
for g in garbage:
    r = ask(s, g)
    assert r["ok"] is False and r["error"]["category"], (g, r)
assert ask(s, b"{\"op\":\"status\"}")["ok"], "the connection stays usable"

# Too long: refused, in words or by hanging up.
s = connect()
try:
    s.send(b" " * 66000)
    r = s.recv(1 << 17)
    assert r == b"" or json.loads(r)["ok"] is False
except OSError:
    pass

# A crowd that says nothing does not keep others out.
crowd = [connect() for _ in range(200)]
s = connect()
assert ask(s, b"{\"op\":\"status\"}")["ok"]

# Nor one that asks and never reads.
deaf = [connect() for _ in range(20)]
for d in deaf:
    d.setblocking(False)
    try:
        for _ in range(2000):
            d.send(b"{\"op\":\"status\"}")
    except OSError:
        pass
    try:
        d.send(b"{\"op\":\"logs\",\"follow\":true}")
        d.send(b"{\"op\":\"events\",\"follow\":true}")
    except OSError:
        pass
time.sleep(0.5)
s = connect()
assert ask(s, b"{\"op\":\"status\"}")["ok"]
EOF
assert "the run goes on" running
# A sanitizer keeps what was freed.
[[ $SBXCTL == */san/* ]] || assert_le "$(($(rss) - before))" 1024 "KiB of memory the keeper took for them"
capture "$SBXCTL" kill "$id"
assert_eq "$rc" 0 "kill"
