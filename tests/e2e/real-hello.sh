#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# GNU hello configures, builds and passes its own tests in a sandbox exactly as it does without one.
# watchdog: 300
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/real.sh"

need gcc make help2man makeinfo
real_source hello
real_same '^# (TOTAL|PASS|SKIP|XFAIL|FAIL|XPASS|ERROR):' '
	./configure -q
	make -s -j2
	make check'
