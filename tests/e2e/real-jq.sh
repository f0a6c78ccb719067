#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jq is generated, built and tested in a sandbox exactly as it is without one.
# watchdog: 600
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/real.sh"

need gcc make autoreconf libtoolize flex bison
[ -e /usr/include/oniguruma.h ] || skip "needs libonig-dev, which is not installed"
real_source jq
real_same '^(PASS|FAIL|ERROR): |^# (TOTAL|PASS|SKIP|FAIL|ERROR):' '
	autoreconf -if
	./configure -q --disable-docs --disable-maintainer-mode --disable-valgrind
	make -s -j2
	make check'
