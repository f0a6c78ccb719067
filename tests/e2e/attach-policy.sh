#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 300
# Contracts 167, 168: a tree that runs already is under its policy from the moment it is adopted, children included, until
# it is let go; what was open before stays open, and the record says so. Where hooks cannot hold the policy it is
# refused by name.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"

need_root
need python3
cleanup() { kill -KILL $agent $listener 2>/dev/null; }
agent='' listener=''
mkdir "$T"/{rw,plain,secret}
for d in rw plain secret; do echo "text of $d" >"$T/$d/file"; done
cp "$T/secret/file" "$T/secret/open"
chmod -R a+rX "$T"

# An agent does what it is told, by itself and by children.
start() { # DIRECTORY [COMMAND...]: $agent
	local directory=$1
	shift
	rm -f "$T/told"
	mkfifo "$T/told"
	# The descriptors are open before: what it is told and says, and one file of the secret ones.
	(cd "$directory" && exec "$@" bash -c 'exec 3<>"$1/told" 4<"$1/secret/open" 5>>"$1/said" 6>>"$1/answers"
		while read -r words <&3; do eval "$words" >&5 2>&1; echo "status $?" >&6; done' agent "$T") &
	agent=$!
	: >"$T/answers"
	ask true
}
answered() { [ "$(wc -l <"$T/answers")" -gt "$asked" ]; }
ask() { # WORDS: $status, $said
	asked=$(wc -l <"$T/answers")
	: >"$T/said"
	echo "$*" >"$T/told"
	assert "the agent answers '$*'" wait_until 30 answered
	status=$(tail -n 1 "$T/answers" | cut -d' ' -f2)
	said=$(cat "$T/said")
}
attach() { # OPTIONS...: $id
	capture "$SBXCTL" attach "$@" "$agent"
	[ "$rc" = 0 ] || fail "attach $*: $err"
	id=$out
}
clause() { "$SBXCTL" inspect "$id" | jq -r ".meta.result.tier.clauses[] | select(.capability == \"$1\") | $2"; }
detach() {
	assert "detach" "$SBXCTL" detach "$id"
	assert "the agent lives" alive "$agent"
}
end() {
	kill -KILL "$agent"
	wait "$agent" 2>/dev/null
}

python3 -c '
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True)
while True: s.accept()' >"$T/port" &
listener=$!
assert "the listener listens" wait_until 60 [ -s "$T/port" ]
port=$(cat "$T/port")
dial="bash -c '</dev/tcp/127.0.0.1/$port'"

start "$T/rw"
attach -p none
lsm=$(clause lsm_enforcement .enforced)
ask "$dial"
assert_eq "$status" 0 "control: the listener"
detach

if [ "$lsm" = false ]; then
	capture "$SBXCTL" attach -p none --deny "$T/secret" "$agent"
	assert_eq "$rc$out" 1 "status of a file policy without BPF LSM"
	assert_one_line "$err" 'a tree that runs already is held by BPF LSM alone.*--allow-reduced filesystem_confinement' "its line"
	capture "$SBXCTL" attach -p none --net none "$agent"
	assert_eq "$rc$out" 1 "status of a network policy without BPF LSM"
	assert_one_line "$err" 'a tree that runs already is held by hooks alone.*--allow-reduced network_restriction' "its line"
	capture "$SBXCTL" attach "$agent"
	assert_eq "$rc$out" 1 "status of the profile default"
	attach --allow-reduced filesystem_confinement,network_restriction
	assert_eq "$(clause filesystem_confinement .enforced) $(clause network_restriction .enforced)" "false false" "on record"
	ask "cat $T/secret/file"
	assert_eq "$status" 0 "no file policy, as asked"
	ask "$dial"
	assert_ne "$status" 0 "what the hooks see"
	detach
	ask "$dial"
	assert_eq "$status" 0 "let go"
	assert_eq "$("$SBXCTL" ps --json | jq length)" 0 "runs left"
	end
	exit 0
fi

# ---- files --------------------------------------------------------------------------------------------------------
attach -p none --ro / --rw "$T/rw" --deny "$T/secret" --deny "$T/rw/.env"
assert_eq "$(clause filesystem_confinement .enforced) $(clause filesystem_deny_future .enforced)" "true true" "on record"
assert_match "$("$SBXCTL" inspect "$id" | jq -r '.meta.result.attached.not_taken_back[0]')" 'open descriptors' "said"
ask "cat $T/plain/file; echo more >>$T/rw/file"
assert_eq "$status $said" "0 text of plain" "what is allowed"
ask "cat $T/secret/file"
assert_ne "$status" 0 "a child is refused"
assert_match "$said" 'Permission denied' "a child is refused"
ask "read -r line <$T/secret/file"
assert_ne "$status" 0 "the adopted process itself is refused"
ask "echo x >$T/plain/new"
assert_ne "$status" 0 "a write outside"
ask "echo x >.env"
assert_ne "$status" 0 "a file that did not exist"
ask "cat <&4"
assert_eq "$status $said" "0 text of secret" "what was open before stays open"
capture "$SBXCTL" why "$id"
assert_match "$out" "read $T/secret/file: EACCES, 2 times, first by cat" "why"
detach
assert_ge "$(jq .denials.total "$SBX_RUN_DIR/$id/result.json")" 3 "refusals on record"
ask "cat $T/secret/file && echo x >.env && rm .env"
assert_eq "$status" 0 "let go, it may again"

# The keeper's death changes nothing: the watcher holds the objects.
attach -p none --ro / --rw "$T/rw" --deny "$T/secret" --deny "$T/rw/.env"
kill -KILL "$("$SBXCTL" inspect "$id" | jq -r .status.keeper_pid)"
assert "the run has lost its keeper" wait_until 20 eval '! "$SBXCTL" update "$id" -t 10m 2>/dev/null'
ask "cat $T/plain/file; echo more >>$T/rw/file"
assert_eq "$status $said" "0 text of plain" "what is allowed, without a keeper"
ask "cat $T/secret/file"
assert_ne "$status" 0 "what is denied, without a keeper"
detach
ask "cat $T/secret/file"
assert_eq "$status" 0 "let go, without a keeper"

# Logged, not denied.
attach -p none --audit --deny "$T/secret"
ask "cat $T/secret/file"
assert_eq "$status" 0 "an audit denies nothing"
capture "$SBXCTL" why "$id"
assert_match "$out" "read $T/secret/file" "and tells"
detach

# ---- network ------------------------------------------------------------------------------------------------------
attach -p none --net none
assert_eq "$(clause network_restriction .enforced)" true "on record"
ask "$dial"
assert_ne "$status" 0 "no network"
ask "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'"
assert_match "$said" 'Operation not permitted' "another family"
detach
attach -p none --allow-net "127.0.0.1:$port"
ask "$dial"
assert_eq "$status" 0 "what was named"
detach
end

# ---- a whole profile ----------------------------------------------------------------------------------------------
mkdir -p "$T/home/project/.claude" "$T/home/.ssh"
echo key >"$T/home/.ssh/id"
start "$T/home/project"
attach -p agent --deny "$T/home/.ssh" --rw "$T/said" --rw "$T/answers"
assert_eq "$(clause privilege_separation .enforced)" false "privileges that it keeps"
assert_match "$(clause network_restriction .detail)" 'of names, which admit nothing' "names"
ask "echo x >note && cat note"
assert_eq "$status $said" "0 x" "its working directory"
ask "echo x >.claude/settings.json"
assert_ne "$status" 0 "settings of the agent"
ask "cat $T/home/.ssh/id"
assert_ne "$status" 0 "a credential"
ask "cat /etc/shadow"
assert_ne "$status" 0 "a credential of the host"
ask "$dial"
assert_ne "$status" 0 "the network"
detach
end

# ---- mounts of its own ----------------------------------------------------------------------------------------------
start / unshare -m sh -c 'mount -t tmpfs none /mnt && mkdir /mnt/in && echo inner >/mnt/in/file && exec "$@"' sh
attach -p none --deny /mnt/in
ask "cat /mnt/in/file"
assert_ne "$status" 0 "a path in its own mounts"
ask "cat $T/plain/file"
assert_eq "$status" 0 "another"
detach
ask "cat /mnt/in/file"
assert_eq "$status $said" "0 inner" "let go"
end
assert_eq "$("$SBXCTL" ps --json | jq length)" 0 "runs left"
