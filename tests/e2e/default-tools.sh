#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# Under the default profile: archives, databases, editors that save by rename, devices and a private /tmp work; keys, the
# home and the rest of the host are out of reach, and the record says so.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/confined.sh"

works "$T/work" "tar" 'mkdir -p d/e && echo x >d/e/f && chmod 640 d/e/f && tar czf d.tgz d && rm -r d && tar xzpf d.tgz && [ "$(stat -c %a d/e/f)" = 640 ]'
works "$T/work" "here-documents, sort, mktemp, sockets in TMPDIR" '
	seq 200000 -1 1 | sort -n -S 1M >/dev/null && f=$(mktemp) && cat >"$f" <<END
text
END
	[ "$(cat "$f")" = text ]'
works "$T/work" "an editor that saves by rename" 'echo a >text && printf "s/a/b/\nw\nq\n" | ed -s text >/dev/null 2>&1 || sed -i s/a/b/ text; [ "$(cat text)" = b ]'
for tool in rsync sqlite3 vim; do
	command -v "$tool" >/dev/null || continue
	case $tool in
	rsync) works "$T/work" rsync 'mkdir -p from && echo x >from/f && rsync -a --delete from/ to/ && cmp from/f to/f' ;;
	sqlite3) works "$T/work" sqlite 'sqlite3 db.sqlite "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1); SELECT a FROM t;" | grep -qx 1' ;;
	vim) works "$T/work" vim 'echo old >edited && vim -u NONE -es -c "s/old/new/" -c wq edited </dev/null; [ "$(cat edited)" = new ]' ;;
	esac
done
works "$T/work" "a terminal of its own" 'python3 -c "import os; m, s = os.openpty(); os.write(s, b\"x\"); os.read(m, 1)"'
works "$T/work" "devices" 'echo x >/dev/null && head -c 4 /dev/urandom >/dev/null && : </dev/zero && [ -w /dev/full ]'

# And what it must not do.
mkdir "$T/home/.ssh" && echo key >"$T/home/.ssh/id" && echo token >"$T/home/.netrc"
denied "$T/work" "a key" read "$T/home/.ssh/id" 'cat "$HOME/.ssh/id"'
denied "$T/work" "a token" read "$T/home/.netrc" 'cat "$HOME/.netrc"'
denied "$T/work" "the home" create "$T/home/.profile" 'echo evil >"$HOME/.profile"'
denied "$T/work" "/etc" create /etc/sbx-test 'echo evil >/etc/sbx-test'
works "$T/work" "the private /tmp" 'echo x >/tmp/sbx-only-inside && ls /tmp'
[ ! -e /tmp/sbx-only-inside ] || fail "/tmp is not private"
works "$T/work" "no capabilities, no privileges to gain" 'grep -qx "CapEff:	0000000000000000" /proc/self/status && grep -qx "NoNewPrivs:	1" /proc/self/status'
