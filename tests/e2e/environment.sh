#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 41, 42: the command sees the documented variables, those that were asked for, and nothing else; what looks
# like a secret is handed over by name only.
. "$(dirname "$0")/../lib/lib.sh"

common=(HOME=/root PATH=/usr/bin:/bin SBX_RUN_DIR="$SBX_RUN_DIR")
inside() { # NAME=VALUE... -- OPTIONS: names of the command's environment
	local set=()
	while [ "$1" != -- ]; do set+=("$1") && shift; done
	shift
	capture env -i "${common[@]}" "${set[@]}" "$SBXCTL" run -p none "$@" -- cat /proc/self/environ
	assert_eq "$rc" 0 "status with $*"
	tr '\0' '\n' <"$T/out" | cut -d= -f1 | sort | tr '\n' ' '
}

assert_eq "$(inside CANARY=1 LC_ALL=C LC_X=y TERM=dumb PYTHONPATH=/x LD_PRELOAD= IFS=x BASH_ENV=/x --)" \
	"HOME LC_ALL LC_X PATH PYTHONPATH SBX_ID TERM " "what is passed by default"
names="CI=1 COLORTERM=1 NO_COLOR=1 FORCE_COLOR=1 TZ=UTC TMPDIR=/tmp EDITOR=vi PAGER=cat VIRTUAL_ENV=/v CC=gcc CXX=g CFLAGS=-O
	LDFLAGS=-s MAKEFLAGS=-j PKG_CONFIG_PATH=/p GOFLAGS=-x NODE_ENV=t JAVA_HOME=/j LANG=C USER=u LOGNAME=u SHELL=/bin/sh"
# shellcheck disable=SC2086
assert_eq "$(inside $names --)" \
	"$(tr -s ' \n\t' '\n' <<<"$names HOME= PATH= SBX_ID=" | cut -d= -f1 | sort | grep . | tr '\n' ' ')" "all that is passed"
assert_match "$(tr '\0' '\n' <"$T/out" | grep ^SBX_ID=)" '^SBX_ID=[a-z2-7]{10}$' "SBX_ID"

secrets=(GH_TOKEN=1 AWS_SECRET_ACCESS_KEY=1 DATABASE_URL=1 apiKey=1 MYSQL_PWD=1 X=ghp_abcdef LC_PASSWORD=1
	PYTHON_DSN=postgres://u:p@h/d)
assert_eq "$(inside "${secrets[@]}" CANARY=1 -- --pass-env '*')" "CANARY HOME PATH SBX_ID SBX_RUN_DIR " \
	"all but what looks like a secret"
assert_eq "$(inside CANARY=1 CANARIES=2 OTHER=3 -- --pass-env 'CAN*' --pass-env OTHE?)" \
	"CANARIES CANARY HOME OTHER PATH SBX_ID " "patterns"
assert_eq "$(inside GH_TOKEN=1 X=1 -- -e GH_TOKEN -e X=2 -e NEW_KEY=3)" "GH_TOKEN HOME NEW_KEY PATH SBX_ID X " "by name"
assert_match "$(tr '\0' ' ' <"$T/out")" ' X=2 ' "a value of one's own"

refused() { # WHAT REGEX OPTIONS
	local what=$1 regex=$2
	shift 2
	sbx_run "$@" -- touch "$T/ran"
	assert_eq "$rc" 125 "status of $what"
	assert_one_line "$err" "$regex" "the line of $what"
	assert "nothing ran: $what" test ! -e "$T/ran"
}
refused "a secret by pattern" '^sbxctl: --pass-env GH_TOKEN: .*-e GH_TOKEN' --pass-env GH_TOKEN
refused "a variable that is not set" '^sbxctl: -e NOT_SET_ANYWHERE: not set' -e NOT_SET_ANYWHERE
refused "the same one twice" '^sbxctl: (-e|--env) X: given twice' -e X=1 -e X=2
refused "SBX_ID" '^sbxctl: (-e|--env) SBX_ID: set by sbx' -e SBX_ID=x

# A value never shows in our words.
sbx_run -e "SECRET=canary-$$" -e 'BAD NAME=x' -e "SECRET=canary-$$" -- true
assert_eq "$rc" 125 "status of a variable that is given twice"
assert_no_match "$err$(cat "$T/result.json")" "canary" "words and result"
