#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contracts 48, 88 to 91: under the default profile no group, key, shared memory, namespace, terminal or kernel interface of
# the caller's is in reach; each act works outside, or under -p none. What a debugger does to its own child still works.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"

need_root
need python3
confined() { # as sbx_run, under the default profile
	keep_result
	capture "$SBXCTL" run -p default --result "$T/result.json" "$@"
}
mkdir "$T/work" && cd "$T/work" || exit 1
cat >calls.py <<'END'
import ctypes, errno, fcntl, os, signal, time
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *args):
    rc = libc.syscall(number, *args)
    print(name, "ok" if rc >= 0 else errno.errorcode[ctypes.get_errno()])
    if rc > 2 and name != "keyctl": os.close(rc)
call("userns", 272, 0x10000000)
call("perf", 298, ctypes.create_string_buffer(b"\1\0\0\0\x70\0\0\0\1" + b"\0" * 128), 0, -1, -1, 0)
call("keyctl", 250, 0, -4, 0)
call("userfaultfd", 323, 0x80000)
child = os.fork() or time.sleep(20)
call("trace", 101, 0x4206, child, 0, 0)
os.kill(child, signal.SIGKILL)
primary, secondary = os.openpty()
for name, number in ("TIOCSTI", 0x5412), ("TIOCGWINSZ", 0x5413):
    try:
        fcntl.ioctl(secondary, number, b"x" * 8)
        print(name, "ok")
    except OSError as e:
        print(name, errno.errorcode[e.errno])
END

confined -- python3 calls.py
assert_eq "$rc" 0 "status"
assert_eq "$(sort <<<"$out" | tr '\n' ';')" "TIOCGWINSZ ok;TIOCSTI EPERM;keyctl ENOSYS;perf EPERM;trace ok;userfaultfd EPERM;userns EPERM;" "calls"

# The control: the same bytes without the filter get as far as the kernel lets root.
sbx_run -- python3 calls.py
assert_match "$out" "userns ok" "a user namespace under -p none"
assert_match "$out" "keyctl (ok|ENOSYS)" "a session keyring under -p none"

shm=$(ipcmk -M 4096 | grep -o '[0-9]*$')
cleanup() { ipcrm -m "$shm" 2>/dev/null; }
sbx_run -- sh -c "ipcs -m -i $shm | grep -c 'bytes=4096'"
assert_eq "$out" 1 "shared memory of others under -p none"
confined -- sh -c "ipcs -m -i $shm 2>&1 | grep -c 'bytes=4096'"
assert_eq "$out" 0 "shared memory of others"

confined -- sh -c 'grep ^Groups: /proc/self/status | cut -f 2 | tr -d " "; readlink /proc/self/ns/ipc /proc/self/ns/uts'
assert_eq "$(head -n 1 <<<"$out")" "" "groups"
assert_eq "$(grep -cxF -e "$(readlink /proc/self/ns/ipc)" -e "$(readlink /proc/self/ns/uts)" <<<"$out")" 0 "namespaces of the caller"
assert_eq "$(setpriv --groups 4,24 "$SBXCTL" run --keep-groups -- sh -c 'grep ^Groups: /proc/self/status | cut -f 2 | tr -d " "')" 424 "--keep-groups"
assert_eq "$(setpriv --groups 4,24 "$SBXCTL" run -p default -- sh -c 'grep ^Groups: /proc/self/status | cut -f 2 | tr -d " "')" "" "groups of root"

# What ordinary programs do is as before: threads, pipes, sub-shells.
cat >threads.py <<'END'
import os, threading
threads = [threading.Thread(target=os.write, args=(1, b"5\n")) for _ in range(2)]
for step in threading.Thread.start, threading.Thread.join:
    for t in threads:
        step(t)
END
confined -- sh -c 'seq 1000 | sort -rn | head -n 1; (exit 3); echo $?; python3 threads.py'
assert_eq "$(tr '\n' ' ' <<<"$out")" "1000 3 5 5 " "shells and threads"

confined -- true
assert_eq "$(result '.tier.clauses[] | select(.capability == "process_isolation") | .enforced')" true "its clause"
assert_match "$(result '.tier.clauses[] | select(.capability == "process_isolation") | .mechanism')" "pid and ipc namespace, seccomp" "its mechanism"
confined --pid-ns off -- true
assert_eq "$(result '.tier.clauses[] | select(.capability == "process_isolation") | "\(.mechanism): \(.enforced)"')" \
	"ipc namespace, seccomp: false" "without a pid namespace"

# Without one Landlock still keeps signals inside, where the kernel has that scope.
abi=$(python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))')
sbx_run -- kill -0 $$
assert_eq "$rc" 0 "a signal to others under -p none"
if [ "$abi" -ge 6 ]; then
	confined --pid-ns off -- kill -0 $$
	assert_eq "$rc" 1 "a signal to others without a pid namespace"
fi
confined --pid-ns off -- sh -c 'sleep 10 & kill $!; wait $!'
assert_eq "$rc" 143 "a signal to its own"
