#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 240
# Contract 171e: ordinary commands behave inside as they do outside, under none and the default profile: exit status,
# stdout and stderr are the same.
. "$(dirname "$0")/../lib/lib.sh"

mkdir "$T/work" && cd "$T/work" || exit 1
seq 1 5000 >numbers
printf 'b 2\na 1\nc 3\n' >table
printf '{"a": [1, 2, {"b": null}]}\n' >data.json
mkdir -p dir/sub && touch dir/one dir/sub/two && ln -s one dir/link
printf '#!/bin/sh\necho "script $0 $@"; exit 17\n' >script && chmod 755 script
declare -A count=([none]=0 [default]=0)

same() { # COMMAND...
	local bare_rc
	rm -rf made*
	{ "$@" >"$T/bare.out" 2>"$T/bare.err" </dev/null; } 2>/dev/null # the shell's own words about signals
	bare_rc=$?
	for profile in none default; do
		[ $profile = none ] || as_they_are "$@" || continue
		rm -rf made*
		capture "$SBXCTL" run -p $profile -q -- "$@"
		((count[$profile] += 1))
		[ "$rc" = "$bare_rc" ] || fail "status of $* under $profile: $rc inside, $bare_rc bare"
		cmp "$T/bare.out" "$T/out" || fail "stdout of $* under $profile"
		cmp "$T/bare.err" "$T/err" || fail "stderr of $* under $profile"
	done
}

# What shows the identity, the bounds or the processes that the profile is there to change.
as_they_are() {
	case $* in
	env* | id | *ulimit* | *' ps '* | *getrlimit*) return 1 ;;
	esac
}

while IFS= read -r line; do
	eval "same $line"
done <<'END'
true
false
echo hello world
printf '%s\n' a b c
cat numbers
cat no-such-file
cat numbers no-such-file numbers
ls -1 dir
ls no-such-directory
ls -l --time-style=+ dir
wc numbers table
sort -r table
sort -n -k2 table
uniq -c table
head -n 3 numbers
tail -c 20 numbers
cut -d' ' -f1 table
tr a-z A-Z
grep a table
grep nothing table
grep -c 1 numbers
grep '['
sed -n 2p table
sed 's/a/X/;q'
awk '{ s += $2 } END { print s }' table
awk 'BEGIN { exit 5 }'
find dir -type f
find dir -name '*o*' -newer no-such
sha256sum numbers table
md5sum no-such
cmp numbers table
diff numbers table
comm table table
join table table
paste table table
od -c table
base64 numbers
expr 1 + 2
expr 1 - 1
seq 5
test -d dir
test -e no-such
stat -c '%n %s %F' numbers dir
readlink dir/link
dirname /a/b/c
basename /a/b/c
pwd
id
whoami
uname -a
sh -c umask
env printf x
env -i sh -c 'echo $HOME'
env no-such-program
nice -n 3 nice
timeout 5 true
timeout 0.1 sleep 5
timeout -s KILL 0.1 sleep 5
xargs -a table echo
xargs -a numbers -n 1000 echo
tee made.tee
sh -c 'mkdir made && echo yes'
mkdir dir
rmdir dir
cp table made.copy
mv no-such made.moved
ln -s nowhere made.link
rm no-such
touch made.touched
chmod 000 no-such
dd if=numbers bs=100 count=2 status=none
tar cf - dir/one dir/sub --mtime=@0
gzip -c table
jq . data.json
jq '.a[2].b' data.json
jq '.a.b' data.json
sh -c 'echo out; echo err >&2; exit 3'
sh -c 'exit 255'
sh -c 'kill -TERM $$'
sh -c 'kill -USR1 $$'
sh -c 'cat numbers | sort -R | wc -l'
sh -c 'false | true; echo $?'
sh -c 'set -o nonsense'
sh -c 'for i in 1 2 3; do (exit $i); echo $?; done'
sh -c 'trap "echo bye" EXIT; exit 4'
sh -c 'sleep 0.1 & wait $!; echo $?'
sh -c 'ulimit -n; ulimit -u; ulimit -s; ulimit -c'
sh -c 'echo "$#" "$@"' a b 'c d'
sh -c 'no-such-command'
sh -c './script x; echo $?'
sh -c 'ps -o comm= -p $$'
bash -c 'echo ${BASH_VERSION%%.*} $((6 * 7)); shopt -s nonsense'
bash -c 'coproc cat; echo hi >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x'
bash -c 'diff <(sort table) <(sort -r table)'
bash -c 'set -o pipefail; cat no-such | cat'
./script a b
sh -c ./no-such-script
/usr/bin/python3 -c 'print("x"); raise SystemExit(9)'
/usr/bin/python3 -c 'import sys; sys.stderr.write("e"); sys.exit("text")'
/usr/bin/python3 -c 'import subprocess as s; print(s.run(["sh", "-c", "exit 5"]).returncode)'
/usr/bin/python3 -c 'import threading; t = [threading.Thread(target=print, args=(i,)) for i in range(5)]; [x.start() or x.join() for x in t]'
/usr/bin/python3 -c 'import os; print(os.getcwd(), sorted(os.listdir("dir")), os.isatty(0), os.isatty(1))'
/usr/bin/python3 -c 'import signal; print([s for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN])'
/usr/bin/python3 -c 'open("made.file", "w").write("1"); import os; os.abort()'
/usr/bin/python3 -c 'import resource as r; print([r.getrlimit(i) for i in range(16)])'
END
echo "${count[none]} commands under none, ${count[default]} under default"
assert_ge "${count[none]}" 100 "commands that were compared"
assert_ge "${count[default]}" 90 "commands that were compared under the default profile"
