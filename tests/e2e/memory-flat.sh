#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 39: what a keeper holds is bounded whatever comes through it, eight at a time.
. "$(dirname "$0")/../lib/lib.sh"

peak_kb() { awk '/^VmHWM:/ { print $2 }' "/proc/$1/status" 2>/dev/null; }

"$SBXCTL" run -p none -- true # whoever loads the kernel half holds more, once
keepers=()
for i in 1 2 3 4 5 6 7 8; do
	"$SBXCTL" run -p none -t 60 -- sh -c "head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2
		: >'$T/done.$i'; exec sleep 1000" >/dev/null 2>&1 &
	keepers+=($!)
done
for i in 1 2 3 4 5 6 7 8; do
	assert "keeper $i passes 40 MB on" wait_until 30 test -e "$T/done.$i"
done
for keeper in "${keepers[@]}"; do
	peaks+="$(peak_kb "$keeper") "
done
echo "peak resident KiB of the keepers: $peaks"
for peak in $peaks; do
	assert_le "$peak" 4096 "peak resident KiB of a keeper"
done
kill "${keepers[@]}"
wait
