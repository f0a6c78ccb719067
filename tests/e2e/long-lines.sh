#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 37: a chunk is not a line: lines of any length come through byte for byte, with and without a last newline.
. "$(dirname "$0")/../lib/lib.sh"

for bytes in 4096 10485760; do
	/usr/bin/python3 -c "import sys; sys.stdout.write(('0123456789abcdef' * ($bytes // 16)))" >"$T/data"
	sbx_run -- cat "$T/data"
	assert_eq "$(sha256sum <"$T/out")" "$(sha256sum <"$T/data")" "a line of $bytes bytes, passed through"
	sbx_json --spill-at 16M -- cat "$T/data"
	assert_eq "$(jq -j .output.stdout.text "$T/result.json" | sha256sum)" "$(sha256sum <"$T/data")" \
		"a line of $bytes bytes, captured"
done
