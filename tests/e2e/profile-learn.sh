#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# What profile learn says of a command suffices for it: it fails under the base, is learnt, and runs green under what was
# learnt. Credential stores, homes and hooks are never learnt.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/confined.sh"

by="the kernel half"
"$SBXCTL" doctor --require A >/dev/null 2>&1 || { need strace && by=strace; }
unset XDG_CACHE_HOME
mkdir -p "$T/home/.ssh" "$T/home/.local/state" "$T/home/data" "$T/home/ä b"
echo key >"$T/home/.ssh/id"
echo old | tee "$T/home/data/"{one,two} >"$T/home/ä b/three"

# learn [OPTION...] -- COMMAND...: captured, from $T/work.
learn() {
	pushd "$T/work" >/dev/null || fail "no $T/work"
	HOME=$T/home PATH=/usr/local/bin:/usr/bin:/bin capture "$SBXCTL" profile learn "$@"
	popd >/dev/null || fail "no way back"
}

# green PROFILE COMMAND...: ends with 0 under it.
green() {
	local profile=$1
	shift
	keep_result
	pushd "$T/work" >/dev/null || fail "no $T/work"
	HOME=$T/home PATH=/usr/local/bin:/usr/bin:/bin capture "$SBXCTL" run -p "$profile" --net host --result "$T/result.json" -- "$@"
	popd >/dev/null || fail "no way back"
	[ "$rc" = 0 ] || fail "$*: status $rc under $(cat "$profile")"
}

writes=(sh -ec '
	echo here >here && echo private >/tmp/private
	mkdir -p "$HOME/.local/state/app" && date +%N >"$HOME/.local/state/app/log"
	(cd "$HOME/data" && sed -i s/old/new/ one && echo more >>two && touch three.$$ && rm three.$$)
	echo word >>"$HOME/ä b/three"')
confined "$T/work" "${writes[@]}"
assert_ne "$rc" 0 "the command under default"
rm -rf "$T/home/.local/state/app" && echo old >"$T/home/data/one"

learn -o "$T/learnt" --net host -- "${writes[@]}"
assert_eq "$rc" 0 "learn"
assert_eq "$out" "" "what the command wrote"
assert_eq "$(stat -c %a "$T/learnt")" 600 "the profile's mode"
assert_eq "$(grep -v '^#' "$T/learnt" | sed /^$/d)" 'Extends=default
[Filesystem]
Write=~/.local/state/app
Write=~/data
Write="~/ä b/three"' "what was learnt"
assert_match "$(cat "$T/learnt")" "# Seen by $by: [0-9]+ paths beyond default, in 3 places; 0 refused" "who saw it"
assert "it is a profile" "$SBXCTL" profile check "$T/learnt"
[ ! -e /tmp/private ] || fail "/tmp is not private while it learns"
green "$T/learnt" "${writes[@]}"
rm -rf "$T/home/.local/state/app/"*
green "$T/learnt" "${writes[@]}"

# Nothing is overwritten unasked, and nothing runs for nobody.
learn -o "$T/learnt" --net host -- touch "$T/work/ran"
assert_eq "$rc" 1 "over a file"
assert_one_line "$err" "learnt exists; -f overwrites it" "why"
[ ! -e "$T/work/ran" ] || fail "the command ran all the same"
learn -f -o "$T/learnt" --net host -- true
assert_eq "$rc" 0 "over a file with -f"
assert_match "$(cat "$T/learnt")" "^# Learnt from: true" "the new one"

# What is not learnt.
git init -q "$T/work" 2>/dev/null
learn --net host -- sh -ec 'cat "$HOME/.ssh/id"; echo x >"$HOME/.ssh/known"; mv "$HOME/.ssh/known" "$HOME/.ssh/k"; : >"$HOME/a.$$" && rm "$HOME/a.$$"; : >.git/hooks/x'
assert_eq "$rc" 0 "a command that wants too much"
assert_no_match "$out" "(^|"$'\n'")(Write|Read)=" "what was learnt"
assert_match "$out" "# refused to learn: read $T/home/.ssh/id: deny ~/.ssh \(profile default, line" "the key"
assert_match "$out" "# refused to learn: create or remove $T/home/.ssh/known: deny" "a file beside it"
assert_match "$out" "# refused to learn: create or remove $T/home/a\.[0-9]+: it takes the whole" "a file in the home"
assert_match "$out" "# refused to learn: create or remove $T/work/.git/hooks/x: ro" "a hook"
assert_match "$err" "(^|"$'\n'")key" "what the command wrote to stdout"

# Relative paths, links and processes that go elsewhere.
ln -s data "$T/home/link"
learn --net host -- sh -ec '(cd "$HOME/link" && mkdir made && cd made && (mkdir a; mv a b) & wait); rm -r ../home/data/made'
assert_eq "$(grep -o '^Write=.*' <<<"$out")" "Write=~/data" "from elsewhere"

learn --net host -- sh -c 'exit 3'
assert_eq "$rc" 1 "a command that fails"
assert_match "$err" "the command ended with 3; what it does after that is not learnt" "why"
learn --net host -p "$T/learnt" -- true
assert_eq "$rc" 2 "a base that is a file"
assert_one_line "$err" "learnt: what is learnt extends a profile by its name" "why"
learn --rw / -- true
assert_eq "$rc" 2 "file options"
learn
assert_eq "$rc" 2 "no command"
