#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Under sudo the command has sudo's PATH; --pass-path gives it the PATH of whoever called sudo.
. "$(dirname "$0")/../lib/lib.sh"

need_root
# A sudo for this purpose: a process of that name, of root, that replaced PATH for what it starts.
cp "$(command -v bash)" "$T/sudo"
under_sudo() {
	PATH=/usr/bin:/bin:/of/the/caller "$T/sudo" -c 'PATH=/usr/sbin:/usr/bin:/bin; export PATH; "$@"; exit $?' sudo "$@"
}

capture under_sudo "$SBXCTL" run -p none -- sh -c 'echo $PATH'
assert_eq "$rc $out" "0 /usr/sbin:/usr/bin:/bin" "PATH without the option"

capture under_sudo "$SBXCTL" run -p none --pass-path -- sh -c 'echo $PATH'
assert_eq "$rc $out" "0 /usr/bin:/bin:/of/the/caller" "PATH with it"

capture under_sudo sh -c '"$1" run -p none --pass-path -- sh -c "echo \$PATH"; exit $?' sh "$SBXCTL"
assert_eq "$rc $out" "0 /usr/bin:/bin:/of/the/caller" "PATH with a shell in between"

# Nobody called sudo: nothing to pass, nothing changes.
PATH=/usr/bin:/bin capture "$SBXCTL" run -p none --pass-path -- sh -c 'echo $PATH'
assert_eq "$rc $out" "0 /usr/bin:/bin" "PATH without sudo"
