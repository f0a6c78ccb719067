# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What end-to-end tests share. Source it first:  . "$(dirname "$0")/../lib/lib.sh"
#
# The test then has: $SBXCTL, $T (a directory of its own, removed at the end), $AIDS (the small C helpers), a private
# SBX_RUN_DIR. The first failing assertion ends the test. An optional cleanup() is called at the end.
set -u

LIB_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${BUILD:=build/release}"
: "${SBXCTL:=$LIB_ROOT/$BUILD/sbxctl}"
AIDS=$LIB_ROOT/${BUILD#"$LIB_ROOT/"}/tests
export SBXCTL BUILD
if [ -n "${TEST_TMP:-}" ]; then
	T=$TEST_TMP
	LIB_OWN=
else
	T=$(mktemp -d "${TMPDIR:-/tmp}/sbx-test.XXXXXX")
	LIB_OWN=$T
	export SBX_RUN_DIR=$T/run
fi

lib_end() {
	local status=$?
	trap - EXIT
	if declare -F cleanup >/dev/null; then cleanup; fi
	[ -z "${LIB_TERM:-}" ] || term_stop
	[ -z "$LIB_OWN" ] || lib_alone || [ $status != 0 ] || status=1
	exit $status
}

# What run-suite does for its tests: every result against the schema, and the private kernel half goes.
lib_alone() {
	local faults=0
	"$LIB_ROOT/tests/lib/check-results" "$LIB_OWN" || faults=1
	"$LIB_ROOT/tests/lib/unload" "$SBX_RUN_DIR"
	rm -rf "$LIB_OWN"
	return $faults
}
trap lib_end EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# ---- verdicts ----------------------------------------------------------------------------------------
fail() {
	echo "FAIL: $*"
	echo "  at ${BASH_SOURCE[-1]##*/}:${BASH_LINENO[-2]}"
	[ ! -s "$T/out" ] || { echo "  last stdout:" && tail -n 15 "$T/out" | cut -c1-300 | sed 's/^/    /'; }
	[ ! -s "$T/err" ] || { echo "  last stderr:" && tail -n 15 "$T/err" | cut -c1-300 | sed 's/^/    /'; }
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

assert() { # MESSAGE COMMAND...
	local message=$1
	shift
	"$@" || fail "$message ($*)"
}

assert_eq() { # GOT WANTED [WHAT]
	[ "$1" = "$2" ] || fail "${3:-value}: got '$1', wanted '$2'"
}

assert_ne() { # GOT UNWANTED [WHAT]
	[ "$1" != "$2" ] || fail "${3:-value}: got '$1', which it must not be"
}

assert_match() { # TEXT EXTENDED-REGEX [WHAT]
	[[ $1 =~ $2 ]] || fail "${3:-text}: '$1' does not match '$2'"
}

assert_no_match() { # TEXT EXTENDED-REGEX [WHAT]
	[[ ! $1 =~ $2 ]] || fail "${3:-text}: '$1' matches '$2'"
}

assert_one_line() { # TEXT EXTENDED-REGEX [WHAT]
	[ "$(grep -c '' <<<"$1")" = 1 ] || fail "${3:-text}: '$1' is not one line"
	assert_match "$@"
}

assert_le() { # NUMBER LIMIT [WHAT]
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 <= b + 0) }' || fail "${3:-number}: $1 is more than $2"
}

assert_ge() { # NUMBER LIMIT [WHAT]
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 >= b + 0) }' || fail "${3:-number}: $1 is less than $2"
}

need() { # COMMAND...: skip without them
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null || skip "needs $c, which is not installed"
	done
}

need_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

# ---- running things ----------------------------------------------------------------------------------
# Runs a command; afterwards $rc, $out and $err are its status and outputs (trailing newlines cut, the files
# $T/out and $T/err have every byte), $took_ms its wall time.
capture() {
	local begin end
	begin=$(date +%s%N)
	"$@" >"$T/out" 2>"$T/err"
	rc=$?
	end=$(date +%s%N)
	took_ms=$(((end - begin) / 1000000))
	out=$(tr -d '\0' <"$T/out")
	err=$(tr -d '\0' <"$T/err")
}

# sbxctl run -p none with these arguments, captured; its result is read with `result`. Earlier results are
# kept: at the end of the test all of them are held against the schema.
sbx_run() {
	keep_result
	capture "$SBXCTL" run -p none --result "$T/result.json" "$@"
}

# The same with --json: stdout is the result.
sbx_json() {
	keep_result
	capture "$SBXCTL" run -p none --json "$@"
	cp "$T/out" "$T/result.json"
}

keep_result() {
	[ -e "$T/result.json" ] || return 0
	mkdir -p "$T/results/$((LIB_RESULTS += 1))" && mv "$T/result.json" "$T/results/$LIB_RESULTS/"
}
LIB_RESULTS=0

# sbxctl of the build with fault points: faulty NAME:ACTION ARGUMENTS...
faulty() {
	local fault=$1
	shift
	[ -x "$LIB_ROOT/build/faults/sbxctl" ] || fail "build/faults/sbxctl is missing: make build/faults/sbxctl"
	SBX_FAULT=$fault "$LIB_ROOT/build/faults/sbxctl" "$@"
}

# A field of the last sbx_run, by jq filter: result .outcome
result() {
	[ -s "$T/result.json" ] || fail "no result was written"
	jq -r "$1" "$T/result.json"
}

assert_result() { # FILTER WANTED
	assert_eq "$(result "$1")" "$2" "result $1"
}

valid_result() { # [FILE]: against include/sbx/result.schema.json
	"$LIB_ROOT/tests/lib/check-results" "${1:-$T/result.json}" || fail "the result does not fit the schema"
}

wait_until() { # SECONDS COMMAND...: 0 as soon as the command is, 1 when the time is over
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}

# How many times slower than the development host this machine is just now.
lib_slowness() {
	local begin _
	begin=$(date +%s%N)
	for _ in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done
	echo $((($(date +%s%N) - begin) / 25000000 + 1))
}
LIB_SLOW=$(lib_slowness)

# MS, times that: bounds of time stay of the order of what they guard, in an emulated machine too.
slow_ms() { echo $(($1 * LIB_SLOW)); }

# True while the process exists and is not a zombie, nor on its way to become one: the init of a pid namespace stays
# in exit until the last zombie of it was reaped, by whoever that is.
alive() {
	local stat state flags _
	stat=$(cut -d')' -f2- "/proc/$1/stat" 2>/dev/null) && [ -n "$stat" ] || return
	read -r state _ _ _ _ _ flags _ <<<"$stat"
	[ "$state" != Z ] && ((!(flags & 4))) # PF_EXITING
}

gone() { ! alive "$1"; }

# Processes whose command line has this word, by pid. Tests give sleepers an argument that nothing else has.
pids_with() {
	local p _
	# The word comes from a file: as an argument it would make grep find itself.
	grep -lzFxa -f <(printf '%s' "$1") /proc/[0-9]*/cmdline 2>/dev/null | while IFS=/ read -r _ _ p _; do
		[ "$p" != $$ ] && alive "$p" && echo "$p"
	done
	return 0
}

none_with() { [ -z "$(pids_with "$1")" ]; }

# The same for threads: a process whose leader has exited shows its command line in another one's folder only. The
# word goes in by a pipe, since this grep has a command line as well.
anybody_with() {
	grep -lzFxa -f <(printf '%s' "$1") /proc/[0-9]*/cmdline /proc/[0-9]*/task/*/cmdline >/dev/null 2>&1
}

# A number of seconds that no other test sleeps for.
unique_seconds() { echo "9$((RANDOM % 9000 + 1000)).$RANDOM$$"; }

# ---- a terminal: tmux on a private socket --------------------------------------------------------------
term() { tmux -S "$T/tmux.sock" -f /dev/null "$@"; }

term_start() { # [COLUMNS ROWS]: a shell with the prompt "READY> "
	need tmux
	LIB_TERM=1
	printf '%s\n' 'PS1="READY> "' 'export TERM=screen' 'set -m' 'unset PROMPT_COMMAND' >"$T/bashrc"
	term new-session -d -x "${1:-100}" -y "${2:-30}" "exec bash --noprofile --rcfile '$T/bashrc' -i"
	term set-option -g remain-on-exit on >/dev/null
	term_wait '^READY>' || fail "no shell in the terminal"
}

term_stop() {
	term kill-server 2>/dev/null
	LIB_TERM=
}

term_send() { term send-keys "$@"; }

# Types a line and presses Enter.
term_line() { term send-keys -l -- "$1" && term send-keys Enter; }

term_screen() { term capture-pane -p -J; }

term_shows() { term_screen | grep -Eq -- "$1"; }

term_wait() { # REGEX [SECONDS]
	wait_until "${2:-10}" term_shows "$1"
}

term_expect() { # REGEX [SECONDS]: fails with the screen
	term_wait "$@" || {
		term_screen | sed '/^$/d; s/^/  screen: /'
		fail "the terminal never showed '$1'"
	}
}

term_size() { term resize-window -x "$1" -y "$2"; }

# True while the shell waits for a line: what is typed earlier belongs to the command.
term_idle() {
	local row
	row=$(term display-message -p '#{cursor_y}') && term capture-pane -p -S "$row" -E "$row" | grep -Eq 'READY> *$'
}

term_prompt() { # [SECONDS]
	wait_until "${1:-10}" term_idle || {
		term_screen | sed '/^$/d; s/^/  screen: /'
		fail "the shell did not come back"
	}
}

# Waits for the shell, types a line and waits until it is through; its status is then in $term_rc. The marker is
# spelled so that only its output, not its echo, matches.
term_run() { # LINE [SECONDS]
	local mark=$RANDOM
	term_prompt "${2:-10}"
	term_line "$1; echo status''-$mark-\$?"
	term_expect "^status-$mark-[0-9]+" "${2:-10}"
	term_rc=$(term_screen | sed -n "s/^status-$mark-\\([0-9]*\\).*/\\1/p" | tail -n 1)
}
