#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --cache DIR is made for the run user when it is missing, leads the tools there and is kept; nobody is given what was put in
# its place meanwhile. Without it a profile's cache goes with the run.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"

need_root
need strace
D=$(mktemp -d /var/tmp/sbx-cache.XXXXXX) # which another user can get to
cleanup() { rm -rf "$D"; }
chmod 755 "$D" && mkdir "$D/open" && chmod 777 "$D/open"
say='echo "$XDG_CACHE_HOME $npm_config_cache"; echo kept >"$XDG_CACHE_HOME/file"'
sbx_run -u nobody --cache "$D/open/cache" -- sh -c "$say"
assert_eq "$rc $out" "0 $D/open/cache $D/open/cache/npm" "where it leads"
assert_eq "$(cat "$D/open/cache/file")" kept "what is in it"
assert_eq "$(stat -c '%U %a' "$D/open/cache")" "nobody 700" "whose it is"
sbx_run -u nobody --cache "$D/open/cache" -- cat "$D/open/cache/file"
assert_eq "$rc $out" "0 kept" "the next run"

capture "$SBXCTL" run -p default --net host -- sh -c 'echo "$XDG_CACHE_HOME $npm_config_cache"'
assert_eq "$rc $out" "0 /tmp/.cache /tmp/.cache/npm" "where a private cache is"
capture "$SBXCTL" run -p default --net host -- sh -c 'mkdir "$XDG_CACHE_HOME" && echo x >"$XDG_CACHE_HOME/file"'
assert_eq "$rc" 0 "a private cache"
[ ! -e /tmp/.cache/file ] || fail "it is not private"

# While the directory is handed over, a link to somebody else's stands in its place.
mkdir "$D/victim"
strace -f -o /dev/null -e trace=chown,fchown -e inject=chown,fchown,lchown,fchownat:delay_enter=500000 \
	"$SBXCTL" run -p none -u nobody --cache "$D/open/raced" -- true >"$T/out" 2>"$T/err" &
tracer=$!
assert "the directory is made" wait_until 30 test -d "$D/open/raced"
mv "$D/open/raced" "$D/open/away" && ln -s "$D/victim" "$D/open/raced"
wait $tracer
assert_eq "$(stat -c %U "$D/victim")" root "whose the other directory is"
