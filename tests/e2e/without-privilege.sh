#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 54, 74: without root, BTF, bpffs or a group hierarchy a run is refused in one line that names what is missing
# and the remedy, and nothing has been made.
. "$(dirname "$0")/../lib/lib.sh"

need_root
need setpriv
sbx_run -- true
chmod 711 "$T"
mkdir -m 700 "$T/theirs"
chown nobody "$T/theirs"

refused() { # WHAT REGEX COMMAND...
	local what=$1 regex=$2
	shift 2
	capture "$@"
	[ "$rc" != 70 ] || skip "needs mounts in a private namespace"
	assert_eq "$rc" 125 "status without $what"
	assert_one_line "$err" "^sbxctl: .*$regex" "the line without $what"
	assert "nothing ran without $what" test ! -e "$T/ran"
}
run=(run -p none -- touch "$T/ran")

refused root 'root' env SBX_RUN_DIR="$T/theirs/run" \
	setpriv --reuid nobody --regid nogroup --clear-groups "$SBXCTL" "${run[@]}"
refused capabilities '(root|CAP_)' env SBX_RUN_DIR="$T/other" \
	setpriv --bounding-set -all --inh-caps -all --no-new-privs "$SBXCTL" "${run[@]}"

# A host without: the same kernel, seen from a mount namespace in which it hides.
hidden() { # WHAT REGEX MOUNTS
	refused "$1" "$2" unshare -m --propagation private sh -c "$3 || exit 70; shift
		SBX_RUN_DIR=$T/hidden \"\$@\"; status=\$?; SBX_RUN_DIR=$T/hidden \"\$1\" unload >/dev/null 2>&1; exit \$status" \
		sh sh "$SBXCTL" "${run[@]}"
}
hidden BTF '(BTF|btf)' 'mount -t tmpfs none /sys/kernel'
hidden cgroups '(cgroup)' 'mount -t tmpfs none /sys/fs/cgroup'
hidden /proc '(/proc|proc)' 'mount -t tmpfs none /proc'

# What is missing is said by doctor, too.
capture "$SBXCTL" doctor
assert_match "$rc" '^[01]$' "doctor's status"
