#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Profiles come from files and from sbxctl itself: listed, shown and checked; a mistake is one line with its place
# and the nearest known key; `-p FILE` with a slash is a path; what this build does not enforce is refused.
. "$(dirname "$0")/../lib/lib.sh"

unset SUDO_UID SUDO_GID
export HOME=$T/home
mine=$HOME/.config/sbx/profiles
mkdir -p "$mine"
cd "$T" || exit 1

profile() { # STATUS ARGUMENTS...
	local status=$1
	shift
	capture "$SBXCTL" profile "$@"
	assert_eq "$rc" "$status" "status of profile $*: $err"
}

# ---- built in ------------------------------------------------------------------------------------------
profile 0 list
for name in default agent agent-claude agent-codex agent-gemini readonly none; do
	assert_match "$out" "(^|"$'\n'")$name +built in" "$name in the list"
	profile 0 check "$name"
	assert_eq "$out$err" "" "words about $name"
	profile 0 show "$name"
	cp "$T/out" "$T/$name.ini"
	profile 0 check "./$name.ini"
	profile 0 list
done

# ---- files ---------------------------------------------------------------------------------------------
printf 'Extends=default\n[Limits]\nTasksMax=64\n' >"$mine/ci"
printf '[Limits]\n' >"$mine/default"
profile 0 list
assert_match "$out" "ci +$mine" "a file in the list"
assert_match "$out" "default +$mine +not used: the name is taken above" "a name that is taken"
profile 0 check ci
profile 0 show ci
assert_eq "$out" "$(cat "$mine/ci")" "what show prints"
# A home cannot replace a built-in profile.
profile 0 show default
assert_match "$out" 'Deny=-~/\.ssh' "default is the built-in one"

check_fails() { # REGEX TEXT
	printf "$2" >"$T/bad.ini"
	profile 1 check ./bad.ini
	assert_one_line "$err" "^sbxctl profile: $1" "the line about: $2"
}
check_fails '\./bad\.ini:3:3: unknown key Raed=; did you mean Read=\?$' '# c\n[Filesystem]\n  Raed=/\n'
check_fails '\./bad\.ini:1:2: unknown section \[Limts\]; did you mean \[Limits\]\?$' '[Limts]\n'
check_fails '\./bad\.ini:2:1: Deny= belongs into \[Filesystem\]$' '[Limits]\nDeny=/x\n'
check_fails '\./bad\.ini:3:10: TasksMax= contradicts \./bad\.ini:2:10$' '[Limits]\nTasksMax=1\nTasksMax=2\n'
check_fails '\./bad\.ini:2:10: TasksMax=: many: not a number' '[Limits]\nTasksMax=many\n'
check_fails "\./bad\.ini:1:1: no profile is called 'nosuch'" 'Extends=nosuch\n'
check_fails '\./bad\.ini:2:1: Seccomp=: .* not in this build' '[Process]\nSeccomp=strict\n'
printf 'Extends=b\n' >"$mine/a"
printf 'Extends=a\n' >"$mine/b"
profile 1 check a
assert_one_line "$err" "$mine/b:1:1: profile a extends itself, by way of b" "a circle"

profile 1 check nosuch
assert_one_line "$err" "no profile is called 'nosuch'; .sbxctl profile list. lists them" "an unknown name"
profile 1 check ./nosuch
assert_one_line "$err" "'./nosuch': no such file" "an unknown file"
mkfifo "$T/pipe"
profile 1 check ./pipe
assert_one_line "$err" "not a regular file" "a pipe"
head -c 70000 /dev/zero | tr '\0' '\n' >"$T/big"
profile 1 check ./big
assert_one_line "$err" "more than 64 KiB" "a big file"
profile 2
assert_one_line "$err" "say list, show, check, explain or learn" "no verb"
profile 2 lst
assert_one_line "$err" "lst: not one of list, show, check, explain" "a wrong verb"
profile 2 show
profile 2 check a b
profile 2 list x

# ---- run and plan take them ------------------------------------------------------------------------------
for command in run plan; do
	for name in nosuch ./nosuch ./bad.ini; do
		capture "$SBXCTL" $command -p "$name" -- touch "$T/ran"
		assert_ne "$rc" 0 "status of $command -p $name"
		assert_one_line "$err" "^sbxctl.*(nosuch|bad\.ini)" "the line of $command -p $name"
	done
done
capture "$SBXCTL" run -p a:b -- touch "$T/ran"
assert_one_line "$err" "-p a:b: not a profile's name; write ./a:b for a file" "a name that is none"
assert "nothing ran" test ! -e "$T/ran"
