#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 3: that it ran, that it could not be run and that a limit stopped it are three facts, however alike
# they look from outside.
. "$(dirname "$0")/../lib/lib.sh"

fact() { result '[.outcome, .exit_code, .signal, .killed_by] | @json'; }

sbx_run -- /nonexistent/program
assert_eq "$rc $(fact)" '127 ["could_not_run",null,null,null]' "a missing binary"
assert_one_line "$err" '^sbxctl: /nonexistent/program: .' "the line that names it"
sbx_run -- no-such-command-anywhere
assert_eq "$rc $(fact)" '127 ["could_not_run",null,null,null]' "a command that PATH does not have"
assert_one_line "$err" '^sbxctl: no-such-command-anywhere: command not found' "its line"

sbx_run -- sh -c 'echo "sh: 1: /nonexistent/program: No such file or directory" >&2; exit 127'
assert_eq "$rc $(fact)" '127 ["exited",127,null,null]' "a script that says the same and exits 127"
assert_eq "$err" "sh: 1: /nonexistent/program: No such file or directory" "its stderr"

sbx_run -t 0.2 -- sh -c 'echo "No such file or directory" >&2; exec sleep 1000'
assert_eq "$rc $(result '[.outcome, .exit_code, .killed_by] | @json')" '124 ["limit_exceeded",null,"wall"]' \
	"the same script, killed at its deadline"

# Found, and not executable: a file without the bit, a directory, an ELF file that ends too early.
printf '#!/bin/sh\nexit 0\n' >"$T/plain"
head -c 64 /bin/true >"$T/truncated"
chmod 755 "$T/truncated"
for what in plain . truncated; do
	sbx_run -- "$T/$what"
	assert_eq "$rc $(fact)" '126 ["could_not_run",null,null,null]' "$what"
	assert_one_line "$err" "^sbxctl: $T/$what: ." "the line that names $what"
done

# A script whose interpreter is not there never ran, one without "#!" is the shell's as everywhere.
printf '#!/nonexistent/interpreter\n' >"$T/orphan"
printf 'exit 9\n' >"$T/bare"
chmod 755 "$T/orphan" "$T/bare"
sbx_run -- "$T/orphan"
assert_eq "$(result .outcome)" could_not_run "a script without its interpreter"
sbx_run -- "$T/bare"
assert_eq "$rc $(fact)" '9 ["exited",9,null,null]' "a script without #!"
