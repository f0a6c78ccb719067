#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `profile explain` names the rule that decides, where it stands, the rights, where links lead and who holds it.
. "$(dirname "$0")/../lib/lib.sh"

unset SUDO_UID SUDO_GID
export HOME=$T/home
mkdir -p "$HOME/.ssh" "$HOME/work/src" "$T/data"
echo key >"$HOME/.ssh/id"
ln -s .ssh/id "$HOME/key"
ln -s ../data "$HOME/store"
cd "$HOME/work" || exit 1

explain() { # ARGUMENTS...
	capture "$SBXCTL" profile explain "$@"
	assert_eq "$rc" 0 "status of explain $*: $err"
}
field() { sed -n "s/^$1 *//p" <<<"$out"; }
decides() { # RIGHTS RULE-REGEX FROM-REGEX ARGUMENTS...
	local rights=$1 rule=$2 from=$3
	shift 3
	explain "$@"
	assert_eq "$(field rights)" "$rights" "rights by: $*"
	assert_match "$(field rule)" "$rule" "rule by: $*"
	assert_match "$(field from)" "$from" "origin by: $*"
}

# The built-in default, by the line that says it.
line() { "$SBXCTL" profile show default | grep -n -- "$1" | head -n 1 | cut -d: -f1; }
decides nothing '^deny ~/\.ssh, which is .*/home/\.ssh$' "^profile default, line $(line '/\.ssh') \(optional\)$" ~/.ssh/id
decides "read, execute" '^ro /$' "^profile default, line $(line '^Read=/')$" /usr/bin/env
decides "read, write, execute" '^rw %d, which is' "^profile default, line $(line '^Write=%d')$" new/file
decides nothing '^deny /etc/shadow\*, which finds /etc/shadow$' 'profile default' /etc/shadow

# Where links lead, both ways: of the path, and of the rule.
explain ~/key
assert_eq "$(field 'leads to')" "$HOME/.ssh/id" "where a link leads"
assert_eq "$(field rights)" nothing "rights of a link to a key"
decides nothing "^deny .*/home/store, which is $T/data\$" '^--deny$' --deny "$HOME/store" "$T/data/x"

# The command line stands over the profile, a nearer rule over a higher one, a name over places.
decides "read, execute" '^ro src' '^--ro$' --ro src src/a.c
decides "read, write, execute" "^rw $HOME/\.ssh" "^--rw \(optional\)$" --rw "-$HOME/.ssh" ~/.ssh/id
decides "read, write" '^noexec src' '^--noexec$' --noexec src src/a.out
decides nothing '^deny \*\*/\.env$' '^--deny$' --deny '**/.env' src/.env
assert_match "$(field 'tier A')" 'every directory' "tier A of a name"
assert_match "$(field 'tier B')" 'cannot hold' "tier B of a name"
decides "read, write, execute" '^none: what no rule names is allowed$' '^no rule$' -p none /etc/shadow

# A home is no working directory; what says so works.
cd "$HOME" || exit 1
decides "read, execute" '^ro %h' 'profile default' .
assert_match "$(field note)" 'say --rw \.' "the note in a home"
decides "read, write, execute" '^rw \.' '^--rw$' --rw . .
assert_eq "$(field note)" "" "no note when it is writable"

# An agent keeps its own state, and the project's settings stay.
mkdir -p "$HOME/.claude" "$HOME/work/.claude"
decides "read, write, execute" '^rw ~/\.claude' 'profile agent, line' -p agent ~/.claude/x
decides "read, execute" '^ro %d/\.claude' 'profile agent-base, line' -p agent -C "$HOME/work" "$HOME/work/.claude/x"

# A git repository: what git needs, and what it would run.
git -C "$HOME" init -q work/repo 2>/dev/null || skip "git is missing"
mkdir -p "$HOME/work/repo/a/b"
cd "$HOME/work/repo/a/b" || exit 1
decides "read, write, execute" "^rw $HOME/work/repo/.git" 'profile default' ../../.git/index
decides "read, execute" '^ro .*/\.git/hooks' 'profile default' ../../.git/hooks/pre-commit
decides "read, execute" '^ro .*/\.git/config' 'profile default' ../../.git/config
git -C ../.. -c user.name=n -c user.email=e commit -q --allow-empty -m one
git -C ../.. worktree add -q "$HOME/work/tree" 2>/dev/null
cd "$HOME/work/tree" || exit 1
decides "read, write, execute" "^rw $HOME/work/repo/.git" 'profile default' "$HOME/work/repo/.git/objects"
decides "read, execute" '^ro .*/\.git/hooks' 'profile default' "$HOME/work/repo/.git/hooks/x"

# What cannot be explained is said in one line.
refused() { # STATUS REGEX ARGUMENTS...
	local status=$1 regex=$2
	shift 2
	capture "$SBXCTL" profile explain "$@"
	assert_eq "$rc" "$status" "status of explain $*"
	assert_one_line "$err" "^sbxctl profile: .*$regex" "the line of explain $*"
}
refused 2 'usage: sbxctl profile explain'
refused 2 'usage: sbxctl profile explain' a b
refused 1 "no profile is called 'nosuch'" -p nosuch x
refused 2 '--memory: not an option of this command' --memory 5M x
refused 1 "ro src \(--ro\) contradicts rw \./src \(--rw\)" --ro src --rw ./src -C "$HOME/work" x
refused 1 '--deny: a/b/c: neither it nor its parent exists; write -a/b/c' --deny a/b/c x
refused 1 'nothing matches' --deny 'nosuch*' x
refused 1 'nowhere' -C nowhere x
