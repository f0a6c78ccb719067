#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 180
# python under the default profile: virtual environments, pip from a local folder, multiprocessing, pytest.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/confined.sh"

need python3
mkdir -p "$T/work/package/hello" "$T/work/tests"
echo 'def greet(): return "hello"' >"$T/work/package/hello/__init__.py"
printf '%s\n' 'from setuptools import setup' 'setup(name="hello", version="1", packages=["hello"])' >"$T/work/package/setup.py"
cat >"$T/work/pool.py" <<'END'
import multiprocessing, tempfile
def square(n): return n * n
if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool: print(sum(pool.map(square, range(10))))
    lock, queue = multiprocessing.Lock(), multiprocessing.Queue()
    with lock: queue.put(tempfile.gettempdir()); print(queue.get())
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=64); block.close(); block.unlink()
END
works "$T/work" multiprocessing 'exec python3 pool.py'
assert_eq "$out" $'285\n/tmp' "what the pool says"

/usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || skip "needs python3-venv, which is not installed"
works "$T/work" "a virtual environment with pip from a folder" '
	python3 -m venv --system-site-packages env && . env/bin/activate
	pip install -q --no-index --no-build-isolation --disable-pip-version-check ./package
	python -c "import hello; print(hello.greet())"'
assert_match "$out" "hello$" "what was installed"

printf '%s\n' 'import os, sys; sys.path.insert(0, "package")' 'def test_greet(tmp_path):' '    import hello' \
	'    (tmp_path / "f").write_text(hello.greet())' '    assert (tmp_path / "f").read_text() == "hello"' >"$T/work/tests/test_hello.py"
/usr/bin/python3 -c 'import pytest' 2>/dev/null || skip "needs python3-pytest, which is not installed"
works "$T/work" pytest 'python3 -m pytest -q tests'
assert_match "$out" "1 passed" "what pytest says"
