#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# DESIGN 8: where the command starts: where its caller stands, or -C; what cannot be entered by the one who shall run there,
# or trusted to hold our own files, is refused by name.
. "$(dirname "$0")/../lib/lib.sh"

need_root
chmod 711 "$T"
mkdir -m 755 "$T/open" && mkdir -m 700 "$T/closed" && ln -s open "$T/link"
cd "$T/open" || exit 1
sbx_run -- pwd
assert_eq "$out" "$T/open" "the caller's directory"
sbx_run -C "$T" -- sh -c 'pwd; echo $PWD'
assert_eq "$(sort -u <<<"$out")" "$T" "-C, and PWD there"
sbx_run -C .. -- ./open/../open/tool
assert_eq "$rc" 127 "a relative command is looked for where it starts"
printf '#!/bin/sh\npwd -P\n' >"$T/open/tool" && chmod 755 "$T/open/tool"
sbx_run -C "$T/link" -- ./tool
assert_eq "$rc $out" "0 $T/open" "-C through a link, and a relative command"

refused() { # REGEX OPTIONS
	local regex=$1
	shift
	sbx_run "$@" -- touch /dev/null "$T/ran"
	assert_eq "$rc" 125 "status of $*"
	assert_one_line "$err" "^sbxctl: .*$regex" "the line of $*"
	assert "nothing ran: $*" test ! -e "$T/ran"
}
refused "$T/nowhere: No such file" -C "$T/nowhere"
refused "$T/open/tool: Not a directory" -C "$T/open/tool"
refused "$T/closed: Permission denied" -u nobody -C "$T/closed"
sbx_run -C "$T/closed" -- pwd
assert_eq "$rc" 0 "status of root in the same directory"

# Our own folder: one that others could change is not used, one that cannot be made is named.
mkdir -m 777 "$T/shared"
SBX_RUN_DIR=$T/shared refused "$T/shared.*others"
assert_eq "$(find "$T/shared")" "$T/shared" "what was made in a folder that is not ours"
SBX_RUN_DIR=/proc/nowhere refused '/proc/nowhere'
SBX_RUN_DIR=$T/open/tool/x refused "$T/open/tool"

# A directory that was removed is still one to start in, where nothing has to be found in it.
mkdir "$T/gone"
cd "$T/gone" && rmdir "$T/gone" || fail "set-up"
sbx_run -- sh -c 'exit 4'
assert_eq "$rc" 4 "a run from a removed directory"
cd /
