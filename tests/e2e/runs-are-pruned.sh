#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# DESIGN 3: what ended runs leave is kept until a thousand are newer or a day has passed, and not longer; a live run is
# never pruned, and what is no run's is left alone.
. "$(dirname "$0")/../lib/lib.sh"

"$SBXCTL" run -p none -- true || fail "a first run"
"$SBXCTL" run -p none --name live -- sleep 1000 &
keeper=$!
live() { "$SBXCTL" ps --json | jq -e '.[] | select(.name == "live")' >/dev/null; }
assert "a live one" wait_until 10 live

/usr/bin/python3 - "$SBX_RUN_DIR" <<-'END'
	import os, sys
	letters = "abcdefghijklmnopqrstuvwxyz234567"
	for i in range(1100):
	    run = f"{sys.argv[1]}/oldold{letters[i // 1024]}{letters[i // 32 % 32]}{letters[i % 32]}z"
	    os.mkdir(run)
	    open(f"{run}/result.json", "w").write("{}")
END
# Two days old, but for the last 20; and something that is nobody's.
find "$SBX_RUN_DIR" -name result.json -path '*oldolda[a-q]*' -exec touch -d '2 days ago' {} +
mkdir "$SBX_RUN_DIR/not-a-run"
old() { find "$SBX_RUN_DIR" -maxdepth 1 -name 'oldolda[a-q]*' | wc -l; }
fresh() { find "$SBX_RUN_DIR" -maxdepth 1 -name 'oldold*' | wc -l; }
assert_ge "$(old)" 500 "directories of two days ago before"
young=$(($(fresh) - $(old)))

# More than a thousand are there, so the next end tidies.
"$SBXCTL" run -p none -- true || fail "a run"
assert_eq "$(old)" 0 "directories of two days ago"
assert_eq "$(fresh)" $young "younger ones"
assert "what is no run's" test -d "$SBX_RUN_DIR/not-a-run"
assert "the live run" live
rm -rf "$SBX_RUN_DIR"/oldold*
kill $keeper
wait $keeper || true
