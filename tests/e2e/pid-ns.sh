#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 89: --pid-ns on: the host's processes are out of sight and reach, our init cannot be killed from inside, reaps
# orphans, and status and records are as without it.
. "$(dirname "$0")/../lib/lib.sh"

need_root
sleep 1000 &
host=$!

sbx_run --pid-ns on -- sh -c "ls -d /proc/[0-9]* | wc -l; cat /proc/1/comm; kill -0 $host 2>/dev/null && echo reached; exit 7"
assert_eq "$rc" 7 "status"
assert_le "$(head -n 1 <<<"$out")" 5 "processes in sight"
assert_eq "$(tail -n +2 <<<"$out")" sbx-init "process 1, and who reaches the host"
assert_eq "$(result '.tier.clauses[] | select(.capability == "process_isolation") | .enforced')" true "its clause"

sbx_run --pid-ns on -- sh -c 'kill -KILL 1; kill -TERM 1; sleep 0.1; cat /proc/1/comm; exit 6'
assert_eq "$rc $out" "6 sbx-init" "killing init from inside"

# Orphans are reaped: none is left a zombie.
sbx_run --pid-ns on -- sh -c '(sleep 0.1 &) ; (sleep 0.1 &) ; sleep 0.5; grep -l "^State:.Z" /proc/[0-9]*/status; exit 5'
assert_eq "$rc $out" "5 " "zombies"

# Records have the numbers of the host, the command its own.
sbx_run --pid-ns on -- sh -c 'echo $$; (exit 4); exit 3'
assert_eq "$rc" 3 "status"
assert_le "$out" 10 "the command's number of itself"
assert_eq "$(result '[.tree.records[] | .exit_code] | sort | @json')" '[3,4]' "records"
assert_ne "$(result '.tree.records[0].pid')" "$out" "the number in the record"

cookie=$(unique_seconds)
sbx_run --pid-ns on -t 0.3 -k none -- "$AIDS/shapes" "$cookie" stay
assert_eq "$rc $(result .tree.survivors)" "124 0" "a deadline"
assert "nothing is left" none_with "$cookie"

# The host's /proc and mounts are as before; off and the default under -p none see the host.
assert "the host process lives" alive $host
assert "the host's /proc is its own" test -d "/proc/$host"
sbx_run --pid-ns off -- kill -0 $host
assert_eq "$rc" 0 "reaching the host with --pid-ns off"
sbx_run -- kill -0 $host
assert_eq "$rc" 0 "reaching the host by default"
kill $host
