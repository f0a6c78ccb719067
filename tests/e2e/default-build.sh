#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# Under the default profile: a compiler, make, a configure script.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/confined.sh"

need gcc make
printf 'int main(void) { return 7; }\n' >"$T/work/seven.c"
printf 'seven: seven.c\n\t$(CC) -o $@ $<\n' >"$T/work/Makefile"
works "$T/work" "gcc by make" 'make -s && ./seven || [ $? = 7 ]'
cat >"$T/work/configure" <<'END'
#!/bin/sh
# As autoconf's: a directory of its own, a probe that is compiled and run, a here-document.
set -e
mkdir conf$$ && cd conf$$
cat >conftest.c <<EOF
#include <stdio.h>
int main(void) { return !puts("probed"); }
EOF
cc -o conftest conftest.c && ./conftest && cd .. && rm -r conf$$ && echo "#define OK 1" >config.h
END
chmod +x "$T/work/configure"
works "$T/work" "a configure script" './configure && grep -q OK config.h'
