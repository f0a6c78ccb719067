# SPDX-License-Identifier: Apache-2.0
"""C sources as the lint scripts see them. LINT_ROOT moves the tree (the self-test does)."""

import glob
import os
import re
import sys

ROOT = os.environ.get("LINT_ROOT") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)
LAYERS = ["base", "policy", "kern", "run", "serve"]

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def _blank(match, keep_strings):
    text = match.group(0)
    if text[0] in "\"'":
        return text if keep_strings else text[0] + " " * (len(text) - 2) + text[0]
    return re.sub(r"[^\n]", " ", text)


class Source:
    """path: relative to the root. code: without comments and string contents. text: without comments."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
            self.raw = file.read()
        self.code = TOKEN.sub(lambda m: _blank(m, False), self.raw)
        self.text = TOKEN.sub(lambda m: _blank(m, True), self.raw)
        parts = path.split("/")
        self.top = parts[0]
        self.layer = parts[1] if self.top == "user" and len(parts) > 2 else None
        self.module = os.path.basename(path).split(".")[0]

    def includes(self):
        for number, line in enumerate(self.text.split("\n"), 1):
            match = re.match(r'\s*#\s*include\s*([<"][^>"]+[>"])', line)
            if match:
                yield number, match.group(1)

    def find(self, pattern, in_strings=False):
        """(line number, match) of every hit."""
        text = self.text if in_strings else self.code
        for match in re.finditer(pattern, text, re.M):
            yield text.count("\n", 0, match.start()) + 1, match

    def functions(self):
        """(name, is_static, first line, lines), from the brace in column 0 to the one that closes it."""
        lines = self.code.split("\n")
        head, start, name = [], None, None
        for number, line in enumerate(lines, 1):
            if start is None and line.startswith("{"):
                name, static = _signature(" ".join(head))
                start = number
            elif start is not None and line.startswith("}"):
                if name:
                    yield name, static, start, number - start + 1
                head, start = [], None
            elif start is None:
                head = [] if not line.strip() or line.startswith(("#", "}")) or line.rstrip().endswith(";") else head + [line]


def _signature(head):
    head = re.sub(r'SEC\s*\([^)]*\)|__attribute__\s*\(\(.*?\)\)', " ", head)
    prog = re.search(r"\bBPF_(?:PROG|KPROBE|ITER)\w*\s*\(\s*(\w+)", head)
    if prog:
        return prog.group(1), False
    call = re.search(r"(\w+)\s*\(", head)
    return (call.group(1) if call else None), bool(re.search(r"\bstatic\b", head))


def sources(*patterns):
    paths = set()
    for pattern in patterns:
        paths.update(glob.glob(pattern, root_dir=ROOT, recursive=True))
    return [Source(path) for path in sorted(paths)]


def product():
    return sources("user/*/*.[ch]", "tools/*/*.[ch]", "bpf/*.[ch]", "include/sbx/*.h")


def finish(faults):
    """Prints the faults, one `path:line: words` each; the exit status says whether there are any."""
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
