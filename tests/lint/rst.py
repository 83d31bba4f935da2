#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Each .rst file is read by docutils without a warning, and its links to other
files of the tree lead somewhere."""
import io
import os
import re
import subprocess
import sys

try:
    import docutils.core
except ImportError:
    # The package of the system, where another python3 comes first.
    system = "/usr/bin/python3"
    if sys.executable != system and os.access(system, os.X_OK):
        os.execv(system, [system] + sys.argv)
    print("python3-docutils is not installed")
    sys.exit(77)

LINK = re.compile(r"`[^`<]*<([^`>:#]+)(?:#[^`>]*)?>`_")


def files():
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.rst"],
        capture_output=True, text=True, check=False).stdout.split()
    if names:
        return names
    found = []
    for top, dirs, inner in os.walk("."):
        dirs[:] = [d for d in dirs if d not in ("build", ".git")]
        found += [os.path.join(top, f)[2:] for f in inner
                  if f.endswith(".rst")]
    return sorted(found)


def warnings_of(name, text):
    """What docutils says, a list of "file:line: text"."""
    stream = io.StringIO()
    docutils.core.publish_doctree(
        text, source_path=name,
        settings_overrides={"warning_stream": stream, "report_level": 2,
                            "halt_level": 5, "file_insertion_enabled": False,
                            "syntax_highlight": "none"})
    said = re.sub(r"\n(?=[^\n]*:\d+: \([A-Z]+/\d\))", "\0",
                  stream.getvalue())
    return [re.sub(r"\s+", " ", s).strip()[:200] for s in said.split("\0")
            if s.strip()]


def dead_links(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        for target in LINK.findall(line):
            path = os.path.join(os.path.dirname(name), target)
            if not os.path.exists(path):
                yield f"{name}:{number}: no such file: {target}"


def main():
    failed = False
    for name in files():
        with open(name, encoding="utf-8") as f:
            text = f.read()
        for line in warnings_of(name, text) + list(dead_links(name, text)):
            print(line)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
