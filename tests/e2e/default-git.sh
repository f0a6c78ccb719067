#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# git under the default profile: what people do in a repository works; its hooks and its configuration, which others run
# and read, stay as they are.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/confined.sh"

need git
git init -q --bare "$T/home/origin.git" -b main
works "$T/work" "init and clone" '
	git init -q new && cd new && echo 1 >file && git add file && git commit -qm one && cd ..
	git clone -q "$1" copy 2>/dev/null
	cd new && git remote add origin "$1"' sh "$T/home/origin.git"

export GIT_CONFIG_GLOBAL=$T/home/.gitconfig
(cd "$T/work/new" && mkdir sub && git remote remove origin && git remote add origin "$T/home/origin.git") || fail "set-up"
unset GIT_CONFIG_GLOBAL
for dir in "$T/work/new" "$T/work/new/sub"; do
	works "$dir" "commit, stash, gc, branch in ${dir##*/}" '
		date +%N >file.$1 && git add . && git commit -qm "from here"
		echo more >>file.$1 && git stash -q && git stash pop -q && git checkout -q . && git gc -q --prune=now
		git branch b$1 && git switch -q b$1 && git switch -q main && git tag t$1 && git log --oneline | grep -q "from here"' sh "${dir##*/}"
done
works "$T/work/new" "a worktree inside" 'git worktree add -q tree && cd tree && echo 2 >file && git commit -qam two'

HOME=$T/home git -C "$T/work/new" worktree add -q -b linked "$T/work/linked" || fail "set-up"
works "$T/work/linked" "commit in a linked worktree" 'echo 3 >file && git commit -qam three && git stash list'

git=$T/work/new/.git
for dir in "$T/work/new" "$T/work/linked"; do
	denied "$dir" "a hook, from ${dir##*/}" create "$git/hooks/post-commit" 'echo "#!/bin/sh" >"$1"' sh "$git/hooks/post-commit"
	confined "$dir" git config core.hooksPath /tmp/hooks
	assert_ne "$rc" 0 "changing the configuration, from ${dir##*/}"
	assert_match "$err" "allowed by --rw $git" "its hint"
done
assert_eq "$(git -C "$T/work/new" config core.hooksPath)" "" "the configuration"
