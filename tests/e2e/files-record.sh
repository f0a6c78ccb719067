#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 81, 87: what --ro, --rw and --deny say holds, and a refusal is told: in the result, by `why` from outside and
# from inside, as an event, and in one line each on stderr when the end is not 0. The option that each names works.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"

need_root
mkdir "$T"/{rw,plain,secret}
for d in rw plain secret; do echo "text of $d" >"$T/$d/file"; done
policy=(--ro / --rw "$T/rw" --deny "$T/secret")
item() { # ACT OBJECT FILTER
	result ".denials.items[] | select(.act == \"$1\" and .object == \"$2\") | $3"
}

sbx_run "${policy[@]}" -- sh -c 'cat "$1/plain/file"; echo more >>"$1/rw/file"; cat "$1/rw/file"' sh "$T"
assert_eq "$rc $err" "0 " "what is allowed"
assert_eq "$out" $'text of plain\ntext of rw\nmore' "what is allowed"
assert_eq "$(result '[.denials.total, (.denials.items | length)] | @json')" "[0,0]" "refusals of an allowed run"

sbx_run "${policy[@]}" -- sh -c 'cat "$1/secret/file"; cat "$1/secret/file"; echo x >"$1/plain/new"; exit 3' sh "$T"
assert_eq "$rc" 3 "status"
assert_eq "$out" "" "what came out of the denied directory"
[ ! -e "$T/plain/new" ] || fail "a file was made in what is read-only"
[[ $err == *"Permission denied"* || $err == *"Read-only"* ]] || fail "the program saw no refusal: $err"
assert_ge "$(result .denials.total)" 3 "refusals in all"
assert_eq "$(item read "$T/secret/file" .count)" 2 "reads of the denied file"
assert_match "$(item read "$T/secret/file" .rule)" "^deny $T/secret \(--deny\)$" "the rule"
assert_eq "$(item read "$T/secret/file" '[.errno, .comm] | @json')" '["EACCES","cat"]' "what cat saw"
assert_eq "$(item create "$T/plain/new" .hint)" "--rw $T/plain" "the option that allows it"
assert_eq "$(grep -c '^sbxctl: denied: ' <<<"$err")" 2 "lines on stderr"
assert_match "$err" "sbxctl: denied: read $T/secret/file by deny $T/secret \(--deny\); allowed by --ro $T/secret/file" "its line"

# Each hint, taken as it is printed.
hints=()
while read -r option path; do hints+=("$option" "$path"); done < <(result '.denials.items[] | .hint')
sbx_run "${policy[@]}" "${hints[@]}" -- sh -c 'cat "$1/secret/file" && echo x >"$1/plain/new"' sh "$T"
assert_eq "$rc $out" "0 text of secret" "with what was hinted"
assert_result .denials.total 0

# Quiet when all is well in the end, or when asked for.
sbx_run "${policy[@]}" -- sh -c 'cat "$1/secret/file" 2>/dev/null; exit 0' sh "$T"
assert_eq "$rc $err" "0 " "a run that ends well"
sbx_run -q "${policy[@]}" -- sh -c 'cat "$1/secret/file" 2>/dev/null; exit 1' sh "$T"
assert_eq "$rc $err" "1 " "a quiet run"
id=$(result .id)
capture "$SBXCTL" why "$id"
assert_eq "$rc" 0 "why"
assert_match "$out" "read $T/secret/file: EACCES, by cat" "why, afterwards"
capture "$SBXCTL" why --json "$id"
assert_eq "$(jq -r '.items[0].act' <<<"$out")" read "why --json"

# From inside, while it runs.
sbx_run -e SBX_RUN_DIR "${policy[@]}" -- sh -c 'cat "$1/secret/file" 2>/dev/null; "$2" why self; "$2" stop "$SBX_ID"' sh "$T" "$SBXCTL"
assert_match "$out" "read $T/secret/file" "why self"
assert_match "$out" "allowed by: --ro $T/secret/file" "why self"
assert_match "$err" "not from inside the run" "what it may not ask"

# As an event, once.
id=$("$SBXCTL" run -p none -d "${policy[@]}" -- sh -c 'for i in 1 2 3; do cat "$1/secret/file"; done; sleep 60' sh "$T")
denied() { "$SBXCTL" events "$id" | jq -c 'select(.event == "denied")' | tee "$T/denied" | grep -q .; }
assert "the event comes" wait_until 10 denied
assert_eq "$(jq -r '[.act, .object] | @json' "$T/denied")" "[\"read\",\"$T/secret/file\"]" "the event"
"$SBXCTL" stop "$id"

# Plan and record say what holds it.
capture "$SBXCTL" plan -p none --json "${policy[@]}" -- true
assert_eq "$rc" 0 "plan"
assert_eq "$(jq -r '.tier.clauses[] | select(.capability == "filesystem_confinement") | .enforced' <<<"$out")" true "the plan's clause"
