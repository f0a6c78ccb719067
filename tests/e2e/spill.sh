#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 34, 31: up to 4 MiB the text is complete and there is no file; one byte more and a file has every byte in order,
# private, and the text is head and tail.
. "$(dirname "$0")/../lib/lib.sh"

seq 1 1000000 | head -c 5000000 >"$T/data"
at=4194304

sbx_json -- head -c $at "$T/data"
assert_eq "$rc $(result '.output.stdout | [.bytes, .truncated, .lossy, .spill] | @json')" \
	"0 [$at,false,false,null]" "exactly 4 MiB"
assert_eq "$(jq -j .output.stdout.text "$T/result.json" | sha256sum)" "$(head -c $at "$T/data" | sha256sum)" \
	"the complete text"

sbx_json -- head -c $((at + 1)) "$T/data"
assert_eq "$(result '.output.stdout | [.bytes, .truncated] | @json')" "[$((at + 1)),true]" "one byte more"
spill=$(result .output.stdout.spill)
assert "the spill is a file" test -f "$spill"
assert_eq "$(sha256sum <"$spill")" "$(head -c $((at + 1)) "$T/data" | sha256sum)" "what the file has"
assert_eq "$(stat -c '%a %u' "$spill")" "600 0" "mode and owner of the file"
assert_eq "$(dirname "$spill")" "$SBX_RUN_DIR/$(result .id)" "the folder of the file"
text=$(result .output.stdout.text)
assert_le ${#text} $((65536 + 100)) "length of the preview"
assert_eq "${text:0:30000}" "$(head -c 30000 "$T/data")" "the head of the preview"
tail=$(head -c $((at + 1)) "$T/data" | tail -c 30000)
assert_eq "${text: -30000}" "$tail" "the tail of the preview"

# Passed through, every byte arrives besides; both streams have a file of their own.
sbx_run --spill-at 10000 --preview 1000 -- sh -c "cat '$T/data'; head -c 20000 '$T/data' >&2"
assert_eq "$(sha256sum <"$T/out")" "$(sha256sum <"$T/data")" "stdout, passed through"
assert_eq "$(sha256sum <"$T/err")" "$(head -c 20000 "$T/data" | sha256sum)" "stderr, passed through"
assert_eq "$(sha256sum <"$(result .output.stdout.spill)")" "$(sha256sum <"$T/data")" "the spill of stdout"
assert_eq "$(stat -c %s "$(result .output.stderr.spill)")" 20000 "the spill of stderr"
assert_le "$(result '.output.stdout.text | length')" 1100 "length of a preview of 1000"

# A threshold below what is kept in memory anyway is as exact.
sbx_json --spill-at 10000 -- head -c 10000 "$T/data"
assert_eq "$(result '.output.stdout | [.truncated, .spill, (.text | length)] | @json')" '[false,null,10000]' "exactly 10000"
sbx_json --spill-at 10000 -- head -c 10001 "$T/data"
assert_eq "$(result '.output.stdout | [.truncated, (.spill | type)] | @json')" '[true,"string"]' "one more than 10000"

sbx_json --spill-at 10000 --preview 1000 --no-keep-spill -- cat "$T/data"
assert_eq "$(result '.output.stdout | [.bytes, .truncated, .spill] | @json')" "[5000000,true,null]" "--no-keep-spill"
assert_eq "$(find "$SBX_RUN_DIR/$(result .id)" -name '*.spill')" "" "files kept all the same"

# The file counts against the cap.
sbx_json --max-output 20000 --spill-at 10000 -- cat "$T/data"
assert_eq "$(result '[.killed_by, .output.stdout.bytes] | @json')" '["output",20000]' "cap above the threshold"
assert_eq "$(stat -c %s "$(result .output.stdout.spill)")" 20000 "the spill up to the cap"
