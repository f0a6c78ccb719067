#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contract 62: no file grows past --max-file by whatever call; the keeper's own files are not meant.
. "$(dirname "$0")/../lib/lib.sh"

cat >"$T/grow.py" <<-'END'
	import errno, mmap, os, signal, sys
	cap, how, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
	signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
	fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
	os.ftruncate(fd, cap - 4096)
	acts = {
	    "write": lambda: [os.pwrite(fd, b"x" * 4096, cap - 4096), os.pwrite(fd, b"x", cap)],
	    "append": lambda: [os.write(os.open(path, os.O_WRONLY | os.O_APPEND), b"x" * 4096) for _ in range(3)],
	    "ftruncate": lambda: [os.ftruncate(fd, cap), os.ftruncate(fd, cap + 1)],
	    "fallocate": lambda: [os.posix_fallocate(fd, 0, cap), os.posix_fallocate(fd, 0, cap + 1)],
	}
	try:
	    acts[how]()
	    print("GREW-PAST-CAP", os.fstat(fd).st_size)
	except OSError as e:
	    print(errno.errorcode[e.errno], os.fstat(fd).st_size)
END
for how in write append ftruncate fallocate; do
	sbx_run --max-file 1M -- /usr/bin/python3 "$T/grow.py" 1048576 $how "$T/file"
	assert_eq "$rc $out" "0 EFBIG 1048576" "$how past the cap"
	sbx_run --max-file 2M -- /usr/bin/python3 "$T/grow.py" 1048576 $how "$T/file"
	assert_match "$out" '^GREW-PAST-CAP' "$how below it"
done
# A command that does not ignore the signal dies of it, and that is its own end.
sbx_run --max-file 1M -- /usr/bin/python3 -c "
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
open('$T/file', 'wb').write(b'x' * 2000000)"
assert_eq "$rc $(result '[.outcome, .signal] | @json')" '153 ["signaled",25]' "SIGXFSZ"
assert_eq "$(stat -c %s "$T/file")" 1048576 "bytes in the file"
assert_eq "$(result '[.limits.max_file.value, .limits.max_file.origin] | @json')" '[1048576,"explicit"]' "the limit"

sbx_json --max-file 1M -- head -c 6000000 /dev/zero
assert_eq "$rc $(stat -c %s "$(result .output.stdout.spill)")" "0 6000000" "a spill beyond the command's cap"
