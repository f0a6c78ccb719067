#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 91: under sudo the command runs as the user behind it, -u names another, and HOME, USER, LOGNAME and SHELL are
# that user's; the result is readable for whoever called.
. "$(dirname "$0")/../lib/lib.sh"

need_root
nobody=$(id -u nobody) group=$(id -g nobody)
facts='echo $(id -u):$(id -g):$(id -G) $HOME $USER $LOGNAME $SHELL'
IFS=: read -r _ _ _ _ _ home shell <<<"$(getent passwd nobody)"

chmod 711 "$T"
sbx_run -- sh -c "$facts"
assert_match "$out " "^0:0:.* ${HOME} " "as root, without sudo"

export SUDO_UID=$nobody SUDO_GID=$group SUDO_USER=nobody
sbx_run -- sh -c "$facts"
assert_eq "$out" "$nobody:$group:$group $home nobody nobody $shell" "under sudo"
dir=$SBX_RUN_DIR/$(result .id)
assert_eq "$(stat -c '%u %a' "$dir/result.json")" "$nobody 400" "owner and mode of the result"
assert_eq "$(stat -c '%u %a' "$dir/meta.json")" "0 600" "owner and mode of what is for root"
assert_eq "$(result '.tier.clauses[] | select(.capability == "privilege_separation") | .enforced')" true "its clause"

sbx_run -u root -- sh -c "$facts"
assert_match "$out" '^0:0:' "under sudo, with -u root"
unset SUDO_UID SUDO_GID SUDO_USER

sbx_run -u nobody -- sh -c "$facts"
assert_eq "$out" "$nobody:$group:$group $home nobody nobody $shell" "-u nobody"
sbx_run -u "nobody:daemon" -- id -g
assert_eq "$out" "$(getent group daemon | cut -d: -f3)" "-u USER:GROUP"
sbx_run -u 54321:54322 -- sh -c 'echo $(id -u):$(id -g):$(id -G) $HOME'
assert_eq "$out" "54321:54322:54322 /" "-u with numbers that nobody has"

# A uid that was left has nothing of root's: no capability, no group, no way back.
sbx_run -u nobody -- sh -c 'grep -E "^Cap(Prm|Eff|Inh|Amb)" /proc/self/status | cut -f2 | sort -u; cat /etc/shadow'
assert_match "$out" '^0000000000000000$' "capabilities of a user's command"
assert_ne "$rc" 0 "reading /etc/shadow as nobody"

for user in no-such-user nobody:no-such-group; do
	sbx_run -u "$user" -- touch "$T/ran"
	assert_eq "$rc" 125 "status of -u $user"
	assert_one_line "$err" "no-such" "the line that names $user"
	assert "nothing ran as $user" test ! -e "$T/ran"
done
