#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# node-semver passes its own tests in a sandbox exactly as it does without one.
# watchdog: 300
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/real.sh"

need node tap
real_source node-semver
real_same '^ok [0-9]+|^not ok [0-9]+|^1\.\.|^# (skip|fail|pass)' '
	export NODE_PATH=/usr/share/nodejs:/usr/lib/nodejs
	tap --no-coverage --no-check-coverage --jobs=1 -R tap test/*.js test/*/*.js'
