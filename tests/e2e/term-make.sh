#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A make whose recipe runs sbxctl is interrupted by Ctrl-C like any other: it says so, stops, and no tree is left.
. "$(dirname "$0")/../lib/lib.sh"
need_root
need make
seconds=$(unique_seconds)
term_start
printf 'all: first second\nfirst:\n\t%s run -p none -- sh -c "setsid -f sleep %s; sleep %s"\nsecond:\n\techo reached second\n' \
	"$SBXCTL" "$seconds" "$seconds" >"$T/Makefile"
two() { [ "$(pids_with "$seconds" | wc -l)" = 2 ]; }

term_line "make -C '$T' -f Makefile --no-print-directory"
assert "the recipe runs" wait_until 5 two
term_send C-c
term_expect 'make: \*\*\* .*(Interrupt|Error 130)'
term_run 'true'
term_shows 'reached second' && fail "make went on after the interrupt"
assert "the recipe's tree is gone" wait_until 3 none_with "$seconds"
