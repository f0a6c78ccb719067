#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bash, fish and zsh complete commands, options and what options take, each by asking that shell.
. "$(dirname "$0")/../lib/lib.sh"

root=$(cd "$(dirname "$0")/../.." && pwd)
export PATH=$LIB_ROOT/$BUILD:$PATH

# ---- bash completion ---------------------------------------------------------------------------------
# shellcheck source=/dev/null
. "$root/completions/sbxctl.bash"
compopt() { echo "compopt $*" >>"$T/compopt"; }
completes() { # WORD... , the last one under the cursor: the answers, sorted
	COMP_WORDS=(sbxctl "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	: >"$T/compopt"
	_sbxctl
	printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}
assert_eq "$(completes un)" "unload " "a command"
assert_eq "$(completes run --tim)" "--timeout " "an option"
assert_eq "$(completes run --limits st)" "strict " "a choice"
assert_eq "$(completes run --limits = st)" "strict " "a choice behind an equals sign"
assert_eq "$(completes run -p none --allow-reduced mem)" "memory_cap " "a capability"
assert_eq "$(completes run -t '')" " " "no guess at a number"
assert_eq "$(completes ps --a)" "--all " "an option of another command"
assert_eq "$(completes run --allow-ro)" " " "no option that this build refuses"
assert_eq "$(completes run -q true --tim)" " " "nothing of ours behind the command"
completes run --workdir '' >/dev/null
assert_match "$(cat "$T/compopt")" dirnames "a directory"

# shellcheck source=/dev/null
. "$root/completions/sbxtop.bash"
COMP_WORDS=(sbxtop --sort mem) COMP_CWORD=2
_sbxtop
assert_eq "${COMPREPLY[*]}" "memory mem" "columns to sort by"
COMP_WORDS=(sbxtop --on) COMP_CWORD=1
_sbxtop
assert_eq "${COMPREPLY[*]}" "--once" "an option of sbxtop"

# ---- fish --------------------------------------------------------------------------------------------
offers() { # COMMAND LINE: what fish offers, without descriptions
	HOME=$T fish --no-config -c "source $root/completions/sbxctl.fish; complete -C '$1'" | cut -f1 | sort | tr '\n' ' '
}
assert_eq "$(offers 'sbxctl un')" "unload " "a command, in fish"
assert_eq "$(offers 'sbxctl run --tim')" "--timeout " "an option, in fish"
assert_eq "$(offers 'sbxctl run --limits st')" "strict " "a choice, in fish"
assert_eq "$(offers 'sbxtop --on')" "--once " "an option of sbxtop, in fish"

# ---- zsh ---------------------------------------------------------------------------------------------
term_start 100 24
term_line "HOME=$T ZDOTDIR=$T zsh -f"
term_line "PS1='ZSH> '; fpath=($root/completions \$fpath); autoload -U compinit; compinit -D -u; echo loaded=\$?"
term_expect 'loaded=0'
term_send -l 'sbxctl unl' && term_send Tab
term_expect 'ZSH> sbxctl unload'
term_send C-u && term_send -l 'sbxctl run --tim' && term_send Tab
term_expect 'ZSH> sbxctl run --timeout'
term_send C-u && term_send -l 'sbxtop --on' && term_send Tab
term_expect 'ZSH> sbxtop --once'
