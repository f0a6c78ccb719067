#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The man page and the completions say what the program does: they are what its tables make, every example
# works as printed, and bash completes from them.
. "$(dirname "$0")/../lib/lib.sh"

need_root
root=$(cd "$(dirname "$0")/../.." && pwd)

capture "$root/man/generate" --check
assert_eq "$rc" 0 "man/generate --check"

# ---- what the pages must name --------------------------------------------------------------------------
plain() { sed 's/\\-/-/g' "$root/man/$1"; }
for key in $(jq -r '.properties | keys[]' "$root/include/sbx/result.schema.json"); do
	plain sbx-result.5 | grep -q "^\.[A-Z]*.*\b$key\b" || fail "sbx-result.5 does not name $key"
done
"$LIB_ROOT/$BUILD/sbxtop" --table | cut -f1-2 | while read -r kind name; do
	plain sbxtop.1 | grep -qF -- "$name" || fail "sbxtop.1 does not name the $kind $name"
done || exit 1
"$LIB_ROOT/$BUILD/sbxtop" --help | grep -q -- '--once' || fail "sbxtop --help"

# ---- every example, as printed -----------------------------------------------------------------------
mkdir -p "$T/bin"
ln -s "$SBXCTL" "$T/bin/sbxctl"
PATH=$T/bin:$PATH
statuses=
while IFS= read -r line; do
	capture bash -c "$line"
	statuses="$statuses$rc "
	case $line in
	*--tree*) assert_match "$err$out" 'make' "the process tree" ;;
	*--json*) assert_eq "$(jq -r '.outcome, .exit_code, .output.stdout.text, .output.stderr.text' "$T/out" | tr '\n' ' ')" \
		"exited 3 out  err  " "the result" ;;
	esac
done < <(sed -n 's/\\-/-/g; s/^\$ //p' "$root/man/sbxctl.1")
assert_eq "$statuses" "124 0 3 0 0 0 " "exit statuses of the examples"

# ---- bash completion ---------------------------------------------------------------------------------
# shellcheck source=/dev/null
. "$root/completions/sbxctl.bash"
compopt() { echo "compopt $*" >>"$T/compopt"; }
completes() { # WORD... , the last one under the cursor: the answers, sorted
	COMP_WORDS=(sbxctl "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	: >"$T/compopt"
	_sbxctl
	printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}
assert_eq "$(completes un)" "unload " "a command"
assert_eq "$(completes run --tim)" "--timeout " "an option"
assert_eq "$(completes run --limits st)" "strict " "a choice"
assert_eq "$(completes run --limits = st)" "strict " "a choice behind an equals sign"
assert_eq "$(completes run -p none --allow-reduced mem)" "memory_cap " "a capability"
assert_eq "$(completes run -t '')" " " "no guess at a number"
assert_eq "$(completes ps --a)" "--all " "an option of another command"
assert_eq "$(completes run --allow-ro)" " " "no option that this build refuses"
assert_eq "$(completes run -q true --tim)" " " "nothing of ours behind the command"
completes run --workdir '' >/dev/null
assert_match "$(cat "$T/compopt")" dirnames "a directory"

# shellcheck source=/dev/null
. "$root/completions/sbxtop.bash"
COMP_WORDS=(sbxtop --sort mem) COMP_CWORD=2
_sbxtop
assert_eq "${COMPREPLY[*]}" "memory mem" "columns to sort by"
COMP_WORDS=(sbxtop --on) COMP_CWORD=1
_sbxtop
assert_eq "${COMPREPLY[*]}" "--once" "an option of sbxtop"
