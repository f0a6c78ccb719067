# SPDX-License-Identifier: Apache-2.0
# bash completion of sbxtop; made by man/generate, like the man page

_sbxtop() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	case $prev in
	-s | --sort) COMPREPLY=($(compgen -W "id name state tier owner age deadline procs threads cpu% cpu memory mem tasks read write io output out denied lost scope command" -- "$cur")) ;;
	-i | --id) COMPREPLY=($(compgen -W "$(sbxctl ps -o id 2>/dev/null | tail -n +2)" -- "$cur")) ;;
	-d | --delay | -n | --frames | --scope | -f | --filter) ;;
	*) COMPREPLY=($(compgen -W "--delay -d --batch -b --frames -n --once -1 --json -j --id -i --scope --filter -f --sort -s --monochrome -m --help -h --version -V" -- "$cur")) ;;
	esac
}

complete -F _sbxtop sbxtop
