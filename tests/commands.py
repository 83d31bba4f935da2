#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Reads the commands that "make -Bn V=1" prints and writes compile_commands.json: an
entry for each source file of each command of a C or C++ compiler. The library's own
command for a file comes first, for editors take the first; the model checker
compiles some of the same files in another way.
"""
import json
import os
import re
import shlex
import sys

COMPILER = re.compile(r'(ccache|[\w./-]*\b(cc|gcc|g\+\+|c\+\+|clang|clang\+\+)(-\d+)?)$')
SOURCE = ('.c', '.cc', '.cpp')


def entries(text):
    for line in text.replace('\\\n', ' ').split('\n'):
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        if not words or not COMPILER.match(words[0]):
            continue
        sources = [w for w in words if w.endswith(SOURCE)]
        for source in sources:
            others = [w for w in words if w not in sources or w == source]
            yield {'directory': os.getcwd(), 'file': source, 'arguments': others}


commands = sorted(entries(sys.stdin.read()),
                  key=lambda e: '-DLKDF_MC' in e['arguments'])
if not commands:
    sys.exit('commands.py: make has printed no command of a compiler')
json.dump(commands, sys.stdout, indent=1)
print()
