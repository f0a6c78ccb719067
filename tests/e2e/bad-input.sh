#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 15: bad input is refused by name before anything is made: one line that names it, status 125, nothing created.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/inventory.sh"

"$SBXCTL" run -p none -- true || fail "a good one"
inventory | sort >"$T/before"

refused() { # REGEX ARGUMENTS OF run
	local regex=$1
	shift
	capture "$SBXCTL" run -p none "$@"
	assert_eq "$rc" 125 "status of: ${*:1:9}"
	assert_one_line "$err" "^sbxctl: .*$regex" "the line of: ${*:1:9}"
	[[ " $* " == *' --json '* ]] || assert_eq "$out" "" "stdout of: ${*:1:9}"
	assert "nothing ran: ${*:1:9}" test ! -e "$T/ran"
}
run=(-- touch "$T/ran")

refused "--timout: unknown option; did you mean --timeout" --timout 5 "${run[@]}"
refused "--memroy.* did you mean --memory" --memroy=5M "${run[@]}"
refused "--zzzzzzzz: unknown option" --zzzzzzzz "${run[@]}"
refused "-Z: unknown option" -Z "${run[@]}"
refused "--quiet: takes no value" --quiet=yes "${run[@]}"
refused "--timeout: needs DUR" --timeout
refused "--timeout: given twice" -t 5 --timeout 6 "${run[@]}"
refused "-m: given twice" -m 5M -m 5M "${run[@]}"
for option in -t --idle-timeout --cpu-time -m --cpus --pids --disk --max-file --nofile --max-execs --max-depth --max-output; do
	refused "0: must be greater than zero; say 'none'" $option 0 "${run[@]}"
	refused "-1: must be greater than zero; say 'none'" $option -1 "${run[@]}"
	refused "$option" $option 5parsecs "${run[@]}"
	refused "$option: its value is empty" $option '' "${run[@]}"
	refused "99999999999999999999.*: (out of range|not a)" $option 99999999999999999999999 "${run[@]}"
done
refused "-k.* 0: must be greater than zero; say 'none'" -k 0 "${run[@]}"
refused "--pids .*1.5" --pids 1.5 "${run[@]}"
refused "-s.* NOSUCH" -s NOSUCH "${run[@]}"
refused "--limits generous" --limits generous "${run[@]}"
refused "--leftovers maybe" --leftovers maybe "${run[@]}"
refused "--pid-ns maybe" --pid-ns maybe "${run[@]}"
refused "--owner (self|0)" --owner self "${run[@]}"
refused "--owner 0" --owner 0 "${run[@]}"
refused "--owner fd:99" --owner fd:99 "${run[@]}"
refused "--name a/b" --name a/b "${run[@]}"
refused "--label novalue" --label novalue "${run[@]}"
refused "--result fd:x" --result fd:x "${run[@]}"
refused "--allow-reduced flux_capacitor" --allow-reduced flux_capacitor "${run[@]}"
refused "--cgroup-parent relative" --cgroup-parent relative "${run[@]}"
refused "contradict" -q -v "${run[@]}"
refused "contradict" --pty --json "${run[@]}"
refused "more than --max-output" --spill-at 2M --max-output 1M "${run[@]}"
refused "no command"
refused "no command" -t 5 --
refused "empty" -- ''
refused "-C|--chdir" -C "$T/nowhere" "${run[@]}"
refused "$T/file|not a directory|Not a directory" -C "$0" "${run[@]}"
refused "--workdir|nowhere" --workdir "$T/nowhere" "${run[@]}"
refused "--allow-net example.org:htps: no port number, and no service" --allow-net example.org:htps "${run[@]}"
refused "--allow-net example.org:0: ports are 1 to 65535" --allow-net example.org:0 "${run[@]}"
refused "--allow-net .*: the range of ports is reversed" --allow-net 10.0.0.0/8:90-80 "${run[@]}"
refused "--allow-net a\.\*\.org: '\*' stands only first" --allow-net 'a.*.org' "${run[@]}"
refused "--allow-net .*: a URL; write the host alone" --allow-net https://example.org/ "${run[@]}"
refused "--allow-bind 0: not a port" --allow-bind 0 "${run[@]}"
refused "--allow-unix x: neither an absolute path" --allow-unix x "${run[@]}"
refused "--allow-net contradicts --net none" --net none --allow-net 192.0.2.1 "${run[@]}"
refused "--allow-unix: means something beside" --net host --allow-unix @x "${run[@]}"

# What this build does not have is refused, not ignored.
for option in "--mount /a:/b" "--allow-unix /x" --audit; do
	# shellcheck disable=SC2086
	capture "$SBXCTL" run -p none $option "${run[@]}"
	assert_eq "$rc" 125 "status of $option"
	assert_one_line "$err" "^sbxctl: (${option%% *}|open '/a')" "the line of $option"
done

# Ten megabytes of arguments, in one or in many: named, at once, and nobody's memory pays.
head -c 120000 /dev/zero | tr '\0' x >"$T/long"
long=$(cat "$T/long")
many=() && for ((i = 0; i < 85; i++)); do many+=("$long"); done
stack=$(ulimit -s)
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)"
capture "$SBXCTL" run -p none -- true "${many[@]}"
ulimit -s "$stack" 2>/dev/null
if [ "$rc" != 126 ]; then # 126: the kernel itself refused to start sbxctl with that much
	assert_eq "$rc" 125 "status with 10 MB of arguments"
	assert_one_line "${err:0:500}" "^sbxctl: the command's arguments are 10[0-9]+ bytes" "its line"
fi

assert "nothing ran" test ! -e "$T/ran"
assert_inventory "$T/before" "after all these refusals"
