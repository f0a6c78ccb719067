#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 32: bytes that are no text come through as they are; in the record they are replaced, and it says so.
. "$(dirname "$0")/../lib/lib.sh"

{
	printf 'plain\n\377\376\0\033[2J\200\303'
	head -c 200000 /dev/urandom
} >"$T/data"

sbx_run -- cat "$T/data"
assert_eq "$(sha256sum <"$T/out")" "$(sha256sum <"$T/data")" "stdout, passed through"
sbx_run -- sh -c "cat '$T/data' >&2"
assert_eq "$(sha256sum <"$T/err")" "$(sha256sum <"$T/data")" "stderr, passed through"
assert_eq "$(result '.output.stderr | [.bytes, .lossy] | @json')" "[$(stat -c %s "$T/data"),true]" "stderr"

sbx_json -- cat "$T/data"
assert_eq "$(result '.output.stdout | [.bytes, .lossy, .truncated] | @json')" \
	"[$(stat -c %s "$T/data"),true,false]" "stdout in the record"
/usr/bin/python3 - "$T" <<-'END' || fail "the text in the record"
	import json, sys
	text = json.load(open(sys.argv[1] + "/result.json", encoding="utf-8", errors="strict"))["output"]["stdout"]["text"]
	assert text.startswith("plain\n\ufffd\ufffd\0\x1b[2J\ufffd"), text[:20]
	assert text == open(sys.argv[1] + "/data", encoding="utf-8", errors="replace", newline="").read()
END

sbx_json --spill-at 1000 --preview 500 -- cat "$T/data"
assert_eq "$(sha256sum <"$(result .output.stdout.spill)")" "$(sha256sum <"$T/data")" "raw bytes in the spill"
