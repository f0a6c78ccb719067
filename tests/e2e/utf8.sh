#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 32, 8 of the decisions: a text view is cut between characters, wherever the cut falls; the file has the bytes.
. "$(dirname "$0")/../lib/lib.sh"

# A preview of 1000 bytes has halves of 500: 4-byte characters shifted by 0 to 3 bytes meet every cut.
for shift in 0 1 2 3; do
	/usr/bin/python3 -c "import sys; sys.stdout.write('a' * $shift + '\U0001F600' * 5000 + 'z' * $shift)" >"$T/data"
	sbx_json --spill-at 4000 --preview 1000 -- cat "$T/data"
	assert_eq "$(result '.output.stdout | [.truncated, .lossy] | @json')" '[true,false]' "shifted by $shift"
	assert_eq "$(sha256sum <"$(result .output.stdout.spill)")" "$(sha256sum <"$T/data")" "bytes, shifted by $shift"
	/usr/bin/python3 - "$T" "$shift" <<-'END' || fail "the text, shifted by $shift"
		import json, re, sys
		text = json.load(open(sys.argv[1] + "/result.json", encoding="utf-8"))["output"]["stdout"]["text"]
		shift = int(sys.argv[2])
		head, middle, tail = re.fullmatch(r"(a*\U0001F600+)(\n.*\n)(\U0001F600+z*)", text, re.S).groups()
		for half in head, tail:
		    assert 496 < len(half.encode()) <= 500, len(half.encode())
		left = 20000 + 2 * shift - len(head.encode()) - len(tail.encode())
		assert f"{left} bytes" in middle, middle
		assert "\ufffd" not in text
	END
done

# A character that arrives in two writes is one character.
sbx_json -- /usr/bin/python3 -c "
import os, time
for byte in 'gr\u00fc\u00dfe \U0001F600'.encode():
    os.write(1, bytes([byte]))
    time.sleep(0.01)"
assert_eq "$(result '.output.stdout | "\(.text) \(.lossy)"')" "grüße 😀 false" "written byte by byte"
