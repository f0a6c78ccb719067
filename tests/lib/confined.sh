# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the tests of the default profile share. Source it behind lib.sh. They start in $T/work, with the home $T/home.
need_root
mkdir -p "$T"/{home,work}
printf '[user]\n\tname = A U Thor\n\temail = author@example.org\n[init]\n\tdefaultBranch = main\n' >"$T/home/.gitconfig"
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# confined DIR COMMAND...: under the default profile, started in DIR, captured; its result is read with `result`.
confined() {
	local dir=$1
	shift
	keep_result
	pushd "$dir" >/dev/null || fail "no directory $dir"
	HOME=$T/home PATH=/usr/local/bin:/usr/bin:/bin capture "$SBXCTL" run -p default --net host --result "$T/result.json" -- "$@"
	popd >/dev/null || fail "no way back"
}

# works DIR WHAT SCRIPT [ARG...]: the script ends with 0.
works() {
	local dir=$1 what=$2
	shift 2
	confined "$dir" sh -ec "$@"
	[ "$rc" = 0 ] || fail "$what: status $rc"
}

# denied DIR WHAT ACT OBJECT SCRIPT: it does not, and the record says so.
denied() {
	local dir=$1 what=$2 act=$3 object=$4
	shift 4
	confined "$dir" sh -ec "$@"
	[ "$rc" != 0 ] || fail "$what: it is allowed"
	result '.denials.items[] | [.act, .object] | @tsv' | grep -qxF "$act"$'\t'"$object" ||
		fail "$what: no record of $act $object, but of $(result '[.denials.items[] | [.act, .object]] | @json')"
}
