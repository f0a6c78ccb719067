#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The man pages and the completions say what the program does: they are what its tables make, and every example works
# as printed.
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
