#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 61: --disk bounds what the command can write to its private places, by size and by number of files; a
# directory that cannot be bounded is refused by name.
. "$(dirname "$0")/../lib/lib.sh"

need_root
cd / || exit 1 # a working directory below /tmp would stay visible in a private one
enough=16777216

sbx_run --workdir new --disk 16M -- sh -c 'pwd; head -c 67108864 /dev/zero >big; echo "status $?"; stat -c %s big'
assert_match "$err" 'No space left on device' "what writing 64 MiB says"
size=$(tail -n 1 <<<"$out")
assert_ge "$size" $((enough * 9 / 10)) "bytes that were taken"
assert_le "$size" $enough "bytes that were taken"
dir=$(head -n 1 <<<"$out")
assert_match "$dir" "/$(result .id)\$" "the working directory"
assert "the working directory is gone" test ! -e "$dir"
assert_eq "$(result '[.outcome, .limits.disk.value] | @json')" "[\"exited\",$enough]" "full is not the end"

sbx_run --workdir new --disk 16M -- bash -c 'truncate -s 1G sparse && echo x >small &&
	exec 3>deleted && rm deleted && head -c 67108864 /dev/zero >&3; echo "deleted $?"
	head -c 67108864 /dev/zero | dd of=sparse conv=notrunc bs=1M status=none; echo "sparse ${PIPESTATUS[1]}"'
assert_match "$out" 'deleted 1
sparse 1$' "a deleted file that is open, and a sparse one that is filled"

sbx_run --workdir new --disk 1M -t 60 -- bash -c 'for ((i = 0; i < 100000; i++)); do : >"$i" || exit 5; done 2>/dev/null'
assert_eq "$rc" 5 "status of 100000 empty files in 1 MiB"

sbx_run --private-tmp --disk 16M -- sh -c 'for d in /tmp /var/tmp /dev/shm; do
	head -c 67108864 /dev/zero >$d/big; echo "$? $(stat -c %s $d/big)"; rm $d/big; done; echo $TMPDIR; ls -A /tmp | wc -l'
assert_eq "$(cut -d' ' -f1 <<<"$out" | tr '\n' ' ')" "1 1 1 /tmp 0 " "statuses in the private places, TMPDIR, entries of /tmp"
while read -r _ size; do
	[ -z "$size" ] || assert_le "$size" $enough "bytes in a private place"
done <<<"$out"

# Private means private: two at once, and the host, see nothing of each other.
echo host >/tmp/sbx-disk-test.$$
sbx_run --private-tmp -- sh -c "cat /tmp/sbx-disk-test.$$; echo inside >/tmp/sbx-disk-test.$$"
assert_eq "$out" "" "the host's /tmp inside"
assert_eq "$(cat /tmp/sbx-disk-test.$$)" host "the host's /tmp after"
rm -f /tmp/sbx-disk-test.$$

# Refused by name, before anything runs.
mkdir "$T/existing"
for options in "--disk 16M" "--workdir $T/existing --disk 16M"; do
	# shellcheck disable=SC2086
	sbx_run $options -- touch "$T/ran"
	assert_eq "$rc" 125 "status of $options"
	assert_one_line "$err" '^sbxctl: .*disk' "the line of $options"
	assert "nothing ran with $options" test ! -e "$T/ran"
done
sbx_run --workdir "$T/existing" -- sh -c 'pwd; touch made'
assert_eq "$rc $out" "0 $T/existing" "--workdir DIR"
assert "what was made there stays" test -e "$T/existing/made"
