# SPDX-License-Identifier: Apache-2.0
# bash completion of sbxctl; made by man/generate, like the man page

_sbxctl_options() { # COMMAND
	case $1 in
	run) echo "--timeout -t --idle-timeout --kill-after -k --signal -s --memory -m --swap --cpus --cpu-time --pids --disk --max-file --nofile --max-execs --max-depth --limits --ro --rw --noexec --deny --mount --workdir --chdir -C --private-tmp --cache --net --allow-net --allow-bind --allow-unix --env -e --pass-env --pass-path --user -u --keep-groups --stdin -i --pty --no-pty --max-output --spill-at --preview --no-keep-spill --quiet -q --verbose -v --color --tree --result --json --pid-ns --owner --leftovers --detach -d --name --label --cgroup-parent --profile -p --allow-reduced --audit -c" ;;
	plan) echo "--timeout -t --idle-timeout --kill-after -k --signal -s --memory -m --swap --cpus --cpu-time --pids --disk --max-file --nofile --max-execs --max-depth --limits --ro --rw --noexec --deny --mount --workdir --chdir -C --private-tmp --cache --net --allow-net --allow-bind --allow-unix --env -e --pass-env --pass-path --user -u --keep-groups --stdin -i --pty --no-pty --max-output --spill-at --preview --no-keep-spill --quiet -q --verbose -v --color --tree --result --json --pid-ns --owner --leftovers --detach -d --name --label --cgroup-parent --profile -p --allow-reduced --audit -c" ;;
	attach) echo "--foreground --kill-with-keeper --cgroup --session --into --timeout -t --idle-timeout --kill-after -k --signal -s --memory -m --swap --cpus --cpu-time --pids --disk --max-file --nofile --max-execs --max-depth --limits --ro --rw --noexec --deny --mount --workdir --chdir -C --private-tmp --cache --net --allow-net --allow-bind --allow-unix --pid-ns --owner --leftovers --detach -d --name --label --cgroup-parent --profile -p --allow-reduced --audit -c" ;;
	ps) echo "-a --all -w --wide -o --columns -T --tree --json --color" ;;
	stop) echo "-t --timeout" ;;
	kill) echo "-s --signal" ;;
	update) echo "--timeout -t --idle-timeout --kill-after -k --signal -s --memory -m --swap --cpus --cpu-time --pids --disk --max-file --nofile --max-execs --max-depth --limits" ;;
	logs) echo "-f --follow" ;;
	events) echo "-f --follow --json --text" ;;
	profile) echo "-o --output -f --force --ro --rw --noexec --deny --mount --workdir --chdir -C --private-tmp --cache --user -u --keep-groups --profile -p --allow-reduced --audit -c" ;;
	why) echo "--json" ;;
	doctor) echo "--json --require --color" ;;
	conformance) echo "--group --json --color" ;;
	esac
}

_sbxctl_kind() { # OPTION: what its value is; nothing when it takes none as a word of its own
	case $1 in
	--allow-bind) echo "none" ;;
	--allow-net) echo "none" ;;
	--allow-reduced) echo "capability" ;;
	--allow-unix) echo "file" ;;
	--cache) echo "dir" ;;
	--cgroup) echo "file" ;;
	--cgroup-parent) echo "file" ;;
	--chdir) echo "dir" ;;
	--color) echo "auto always never" ;;
	--columns) echo "column" ;;
	--cpu-time) echo "none" ;;
	--cpus) echo "none" ;;
	--deny) echo "file" ;;
	--disk) echo "none" ;;
	--env) echo "variable" ;;
	--group) echo "none" ;;
	--idle-timeout) echo "none" ;;
	--into) echo "none" ;;
	--kill-after) echo "none" ;;
	--label) echo "none" ;;
	--leftovers) echo "kill wait keep" ;;
	--limits) echo "strict default relaxed none" ;;
	--max-depth) echo "none" ;;
	--max-execs) echo "none" ;;
	--max-file) echo "none" ;;
	--max-output) echo "none" ;;
	--memory) echo "none" ;;
	--mount) echo "none" ;;
	--name) echo "none" ;;
	--net) echo "none allow host" ;;
	--noexec) echo "file" ;;
	--nofile) echo "none" ;;
	--output) echo "file" ;;
	--owner) echo "none" ;;
	--pass-env) echo "none" ;;
	--pid-ns) echo "on off" ;;
	--pids) echo "none" ;;
	--preview) echo "none" ;;
	--profile) echo "file" ;;
	--require) echo "capability" ;;
	--result) echo "file" ;;
	--ro) echo "file" ;;
	--rw) echo "file" ;;
	--signal) echo "signal" ;;
	--spill-at) echo "none" ;;
	--swap) echo "none" ;;
	--timeout) echo "none" ;;
	--user) echo "user" ;;
	--workdir) echo "dir" ;;
	-C) echo "dir" ;;
	-c) echo "none" ;;
	-e) echo "variable" ;;
	-k) echo "none" ;;
	-m) echo "none" ;;
	-o) echo "column" ;;
	-p) echo "file" ;;
	-s) echo "signal" ;;
	-t) echo "none" ;;
	-u) echo "user" ;;
	esac
}

_sbxctl_value() { # KIND
	case $1 in
	dir) compopt -o dirnames ;;
	file) compopt -o default ;;
	user) COMPREPLY=($(compgen -u -- "$cur")) ;;
	signal) COMPREPLY=($(compgen -A signal -- "$cur")) ;;
	variable) COMPREPLY=($(compgen -v -- "$cur")) ;;
	capability) COMPREPLY=($(compgen -W "process_tracking tree_kill kernel_kill time_budget output_capture memory_cap cpu_cap pids_cap disk_cap filesystem_confinement filesystem_deny_future network_restriction process_isolation privilege_separation attach lsm_enforcement" -- "$cur")) ;;
	column) COMPREPLY=($(compgen -P "$(sed -n 's/^\(.*,\).*/\1/p' <<<"$cur")" -W "id name state tier owner age deadline procs threads cpu% cpu memory mem tasks read write io output out denied lost scope command" -- "${cur##*,}")) ;;
	none) ;;
	*) COMPREPLY=($(compgen -W "$1" -- "$cur")) ;;
	esac
}

# Where the command of `run` starts: the first word that is neither an option nor the value of one.
_sbxctl_command_at() {
	local i
	for ((i = 2; i <= COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) echo $((i + 1)) && return ;;
		-*) [ -z "$(_sbxctl_kind "${COMP_WORDS[i]}")" ] || i=$((i + 1)) ;;
		# bash splits --name=value at the equals sign
		=) i=$((i + 1)) ;;
		*) echo "$i" && return ;;
		esac
	done
}

_sbxctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} at kind
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W "run plan attach detach ps inspect stop kill freeze thaw update wait logs events profile why doctor conformance unload help --help --version" -- "$cur"))
		return
	fi
	case $command in
	run | plan)
		at=$(_sbxctl_command_at)
		if [ -n "$at" ] && [ "$at" -lt "$COMP_CWORD" ]; then
			if declare -F _command_offset >/dev/null; then _command_offset "$at"; else compopt -o default; fi
			return
		fi
		;;
	esac
	if [ "$cur" = = ]; then
		cur=
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	kind=$(_sbxctl_kind "$prev")
	if [ -n "$kind" ]; then
		_sbxctl_value "$kind"
		return
	fi
	case $cur in
	-*)
		COMPREPLY=($(compgen -W "$(_sbxctl_options "$command")" -- "$cur"))
		return
		;;
	esac
	case $command in
	run | plan) COMPREPLY=($(compgen -c -- "$cur")) ;;
	help) COMPREPLY=($(compgen -W "run plan attach detach ps inspect stop kill freeze thaw update wait logs events profile why doctor conformance unload help" -- "$cur")) ;;
	inspect | logs | wait) COMPREPLY=($(compgen -W "$(sbxctl ps -a 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$cur")) ;;
	stop | kill | freeze | thaw | update | events)
		COMPREPLY=($(compgen -W "$(sbxctl ps 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$cur"))
		;;
	esac
}

complete -F _sbxctl sbxctl
