#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Lists what no test has run: the functions of lib that nothing calls, and the
error paths of the others; then lines and branches by folder.

Reads what gcc has counted in BUILD, see make coverage. A process that ends by
a signal or _exit() has counted nothing.
"""

import argparse
import json
import os
import re
import subprocess
import sys

BUILD = os.environ.get("BUILD", "build/cov")
# A line that leaves with an error, or goes to what undoes.
ERROR = re.compile(r"\berr\(|\breturn -E[A-Z]|\bgoto \w|\blog_text\(")


class File:
    """Counts of one file, from all objects that have it."""

    def __init__(self):
        self.lines = {}  # number -> count
        self.branches = {}  # (number, which one) -> count
        self.functions = {}  # name -> [first line, last line, count]

    def add(self, told):
        for x in told["lines"]:
            nr = x["line_number"]
            self.lines[nr] = self.lines.get(nr, 0) + x["count"]
            for i, b in enumerate(x["branches"]):
                key = (nr, i)
                self.branches[key] = self.branches.get(key, 0) + b["count"]
        for x in told["functions"]:
            f = self.functions.setdefault(
                x["name"], [x["start_line"], x["end_line"], 0]
            )
            f[2] += x["execution_count"]


def notes(build):
    for folder, _, names in os.walk(os.path.join(build, "lib")):
        for name in sorted(names):
            if name.endswith(".gcno"):
                yield os.path.join(folder, name)


def read(build, top):
    """path -> File, of what lies below top."""
    files = {}
    command = ["gcov", "--json-format", "--stdout", "--branch-probabilities"]
    for path in notes(build):
        told = subprocess.run(
            [*command, path],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if told.returncode:
            print(f"# {path}: gcov cannot read it, build it again")
            continue
        for line in told.stdout.splitlines():
            for f in json.loads(line)["files"]:
                name = os.path.relpath(f["file"])
                if name == top or name.startswith(top.rstrip("/") + "/"):
                    files.setdefault(name, File()).add(f)
    return files


def list_file(path, f):
    with open(path, encoding="utf-8") as source:
        text = source.read().split("\n")
    idle = []
    for name, (first, last, count) in sorted(f.functions.items(), key=lambda x: x[1]):
        if not count:
            print(f"{path}:{first}: {name}() is not called")
            idle.append(range(first, last + 1))
    for nr, count in sorted(f.lines.items()):
        if count or any(nr in x for x in idle):
            continue
        line = text[nr - 1].strip() if nr <= len(text) else ""
        if ERROR.search(line):
            print(f"{path}:{nr}: not run: {line}")


def share(counts):
    """How many of them are not 0."""
    run = sum(1 for x in counts if x)
    of = len(counts)
    return f"{run:7d} of {of:7d} {100 * run / of if of else 100:6.1f} %"


def print_sums(files):
    folders = {}
    for path, f in files.items():
        lines, branches = folders.setdefault(os.path.dirname(path), ([], []))
        lines.extend(f.lines.values())
        branches.extend(f.branches.values())
    print("# " + "folder".ljust(24) + "lines".rjust(27) + "branches".rjust(28))
    for name, (lines, branches) in sorted(folders.items()):
        print("# " + name.ljust(24) + share(lines).rjust(27) + share(branches).rjust(28))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("of", nargs="?", default="lib", help="a folder of lib, or a file")
    args = p.parse_args()
    files = read(BUILD, args.of)
    if not files:
        sys.exit(f"{args.of}: {BUILD} has counted nothing of it")
    for path in sorted(files):
        list_file(path, files[path])
    print_sums(files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
