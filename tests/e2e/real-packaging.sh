#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# python3-packaging passes its own tests in a sandbox exactly as it does without one.
# watchdog: 300
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/real.sh"

need /usr/bin/python3
/usr/bin/python3 -c 'import pytest, pretend' 2>/dev/null || skip "needs python3-pytest and python3-pretend"
real_source python-packaging
real_same '^[0-9]+ (passed|failed|error)|^(FAILED|ERROR) ' '
	PYTHONPATH=src:. /usr/bin/python3 -m pytest -q -p no:cacheprovider tests'
