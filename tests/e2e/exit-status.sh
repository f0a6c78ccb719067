#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 2, 4, 5: the exit status is the command's own, and code, signal, core and cause stay different facts.
. "$(dirname "$0")/../lib/lib.sh"

sbx_run -- sh -c 'exit 42'
assert_eq "$rc" 42 "status of exit 42"
assert_eq "$err" "" "words of our own when a command fails by itself"
assert_eq "$(result '[.outcome, .exit_code, .signal, .killed_by, .limit, .launch] | @json')" \
	'["exited",42,null,null,null,"inode"]' "exit 42"

sbx_run -- true
assert_eq "$rc $(result '[.outcome, .exit_code] | @json')" '0 ["exited",0]' "true"

# The same status, two different facts.
sbx_run -- sh -c 'exit 139'
assert_eq "$rc $(result '[.outcome, .exit_code, .signal] | @json')" '139 ["exited",139,null]' "exit 139"
sbx_run -- sh -c 'kill -SEGV $$'
assert_eq "$rc $(result '[.outcome, .exit_code, .signal] | @json')" '139 ["signaled",null,11]' "SIGSEGV"

for pair in HUP:1 INT:2 QUIT:3 ABRT:6 TERM:15 PIPE:13 RTMAX:64; do
	sbx_run -- sh -c "ulimit -c 0; kill -${pair#*:} \$\$"
	assert_eq "$rc" $((128 + ${pair#*:})) "status after SIG${pair%:*}"
	assert_eq "$(result '[.outcome, .signal, .killed_by] | @json')" "[\"signaled\",${pair#*:},null]" "SIG${pair%:*}"
done

# A SIGKILL that nobody here sent is an outsider's, not a limit's.
sbx_run -m 64M -t 20 -- sh -c 'kill -KILL $$'
assert_eq "$rc" 137 "status after SIGKILL"
assert_eq "$(result '[.outcome, .signal, .killed_by, .limit] | @json')" '["signaled",9,"external",null]' "SIGKILL"

# The core flag is what the kernel says for the same death without us.
cat >"$T/core.py" <<-'END'
	import os, resource, sys
	hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
	pid = os.fork()
	if not pid:
	    resource.setrlimit(resource.RLIMIT_CORE, (hard if sys.argv[1] == "core" else 0, hard))
	    os.kill(os.getpid(), 11)
	print(str(os.WCOREDUMP(os.waitpid(pid, 0)[1])).lower())
END
cd "$T" || exit 1
for size in unlimited 0; do
	if [ $size = 0 ]; then word=no; else word=core; fi
	bare=$(/usr/bin/python3 "$T/core.py" $word)
	sbx_run -- sh -c "ulimit -c \$(ulimit -H -c); [ $size != 0 ] || ulimit -c 0; kill -SEGV \$\$"
	assert_eq "$(result .core_dumped)" "$bare" "core_dumped with core size $size"
done
