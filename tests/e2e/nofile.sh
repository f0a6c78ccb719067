#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 51: --nofile bounds each process's descriptors, the keeper's not, and cannot be raised by its user.
. "$(dirname "$0")/../lib/lib.sh"

sbx_run --nofile 32 -- bash -c 'echo $(ulimit -S -n) $(ulimit -H -n)'
assert_eq "$out" "32 32" "soft and hard limit inside"
sbx_run --nofile 32 -- /usr/bin/python3 -c '
import errno, os
try:
    while True: os.dup(0)
except OSError as e: print(errno.errorcode[e.errno])'
assert_eq "$rc $out" "0 EMFILE" "descriptors until it fails"
sbx_run --nofile 32 -u nobody -- bash -c 'ulimit -n 64'
assert_ne "$rc" 0 "raising it as nobody"
assert_result .limits.nofile.value 32
