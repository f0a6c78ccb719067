#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 46: argv is a vector that no shell sees, and argv[0], $0 and comm are what was typed, for programs, links and
# scripts.
. "$(dirname "$0")/../lib/lib.sh"

cd "$T" || exit 1
sbx_run -- printf '<%s>' '; touch pwned' '$(touch pwned)' '`touch pwned`' '' ' a  b ' $'new\nline' '*' '\' "'" --timeout
assert_eq "$out" "<; touch pwned><\$(touch pwned)><\`touch pwned\`><>< a  b ><new
line><*><\\><'><--timeout>" "arguments"
assert "no shell saw them" test ! -e pwned
# shellcheck disable=SC2046
sbx_run -- sh -c 'echo $#' sh $(seq 1 5000)
assert_eq "$out" 5000 "many arguments"
sbx_run -- printf %s "$(printf '\377\376')"
assert_eq "$(od -An -tx1 "$T/out")" " ff fe" "bytes that are no text"

# The names a process sees of itself, bare and inside.
cat >tell-script <<-'END'
	#!/usr/bin/python3
	import sys
	print(open("/proc/self/comm").read().strip(), sys.argv[0], open("/proc/self/cmdline").read().split("\0")[:-1])
END
chmod 755 tell-script
ln -s tell-script linked-script
cp "$(command -v bash)" copy-of-bash
ln -s copy-of-bash linked-bash
mkdir -p bin "dir with space"
cp tell-script bin/in-path
cp tell-script "dir with space/a-name-longer-than-comm-can-be"
facts='echo $0 $(cat /proc/$$/comm) $(tr "\0" "|" </proc/$$/cmdline)'
same() { # COMMAND...
	local bare
	bare=$(PATH=$T/bin:$PATH "$@" 2>&1)
	PATH=$T/bin:$PATH sbx_run -- "$@"
	assert_eq "$out" "$bare" "names of $1"
}
same ./copy-of-bash -c "$facts"
same "$T/linked-bash" -c "$facts"
same ./linked-bash -c "$facts"
same sh -c "$facts"
same /bin/sh -c "$facts"
same ./tell-script x y
same "$T/linked-script"
same in-path
same "./dir with space/a-name-longer-than-comm-can-be" arg

sbx_run -- ./copy-of-bash -c true
assert_result .launch inode
sbx_run -- ./tell-script
assert_result .launch path
sbx_run -c 'echo "$0 $1 $2"; exit 3' first 'second one'
assert_eq "$rc $out" "3 first second one " "-c STRING"
