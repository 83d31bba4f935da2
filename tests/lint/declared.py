#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
A function of lib is declared in a header of the folder that defines it: a
header of a lower folder would hide an arrow that goes up.
"""
import os
import re

import ctext

NAME = r'(?m)^(?!static\b|typedef\b|return\b|else\b|extern\b)[a-z_][\w \t]*[ \t*]+\**'
DEFINED = re.compile(NAME + r'(\w+)\([^;{}]*\)\s*\{')
DECLARED = re.compile(NAME + r'(\w+)\([^;{}]*\)[^;{}()]*;')

report = ctext.Report()
folders = {}
headers = []

for path in ctext.files('lib'):
    if '/include/lkdf/' in path:
        continue
    text = ctext.code(ctext.read(path))
    folder = os.path.dirname(path)
    if path.endswith('.h'):
        headers.append((path, folder, text))
    for m in DEFINED.finditer(text):
        folders.setdefault(m.group(1), set()).add(folder)

for path, folder, text in headers:
    for m in DECLARED.finditer(text):
        defined = folders.get(m.group(1))
        if defined and folder not in defined:
            report.say(path, ctext.line_of(text, m.start(1)),
                       '%s() is defined in %s: declare it there'
                       % (m.group(1), ' '.join(sorted(defined))))

report.end()
