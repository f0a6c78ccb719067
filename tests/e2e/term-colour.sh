#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that ask whether they speak to a terminal get the same answer as without sbxctl: pytest's colours and
# progress are there in one, and are not in a pipe.
. "$(dirname "$0")/../lib/lib.sh"
need_root
/usr/bin/python3 -c 'import pytest' 2>/dev/null || skip "needs python3-pytest"
cd "$T" || exit 1
printf 'import pytest\n@pytest.mark.parametrize("n", range(40))\ndef test_n(n):\n    assert n >= 0\n' >test_n.py
pytest='/usr/bin/python3 -m pytest -p no:cacheprovider -q test_n.py'

# The screen with its colours, without what differs between two runs.
screen() { term capture-pane -p -e | grep -E 'passed|%' | sed -E 's/in [0-9.]+s//'; }

term_start
term_run "cd '$T'; clear; $pytest" 20
bare=$(screen)
assert_match "$bare" '100%' "pytest's progress without sbxctl"
assert_match "$bare" $'\e''\[[0-9;]*32m' "pytest's green without sbxctl"
term_run "clear; \$SBXCTL run -p none -- $pytest" 20
assert_eq "$(screen)" "$bare" "pytest's screen"

capture "$SBXCTL" run -p none -- sh -c "$pytest"
assert_eq "$rc" 0 "status"
assert_no_match "$out" $'\e' "output through a pipe"
