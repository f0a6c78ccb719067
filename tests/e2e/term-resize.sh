#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A command in a terminal sees its size and every change of it.
. "$(dirname "$0")/../lib/lib.sh"
need_root
term_start 100 30
cat >"$T/job" <<'END'
trap 'echo "now $(stty size)"' WINCH
echo "first $(stty size)"
while :; do sleep 0.05; done
END
term_line "\$SBXCTL run -p none -- bash '$T/job'"
term_expect '^first 30 100'
term_size 77 21
term_expect '^now 21 77'
term_size 120 40
term_expect '^now 40 120'
term_send C-c
term_run 'stty size'
term_expect '^40 120'
