#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Sizes: a function over 80 lines, 6 parameters or 4 levels of blocks fails, as
does a file over 500 lines. A function over 60 lines is a note, no failure. A
static function of a file of lib has a name of two words: a profile shows names
without files. A call of OpenCL or of NVIDIA's driver, cuLaunchKernel() say, has
the parameters that it has, and so has a call that gcc makes, GOMP_task() say. A
Python file has no name of a standard module: its folder is searched first, so
that module could not be imported there.
"""
import os
import re
import sys

import ctext

MAX_LINES, NOTE_LINES, MAX_PARAMS, MAX_LEVELS, MAX_FILE = 80, 60, 6, 4, 500


def levels(body):
    """Deepest block below the function's own; initialisers do not count."""
    deepest, stack = 0, []
    for m in re.finditer(r'[{}]', body):
        if m.group() == '}':
            if stack:
                stack.pop()
            continue
        before = body[:m.start()].rstrip()
        is_block = bool(re.search(r'([;{}):]|\belse|\bdo)$', before)) or \
            not before
        if re.search(r'\)$', before) and re.search(r'=\s*\([^()]*\)$', before):
            is_block = False
        stack.append(is_block)
        deepest = max(deepest, sum(stack) - 1)
    return deepest


report = ctext.Report()
paths = ctext.files(ends=('.c', '.h', '.cc', '.hpp', '.py', '.sh', '.mk'))
for path in paths:
    if '/fixtures/' in path:
        continue
    raw = ctext.read(path)
    nr_lines = raw.count('\n')
    if nr_lines > MAX_FILE:
        report.say(path, MAX_FILE + 1, f'{nr_lines} lines, at most {MAX_FILE}:'
                   ' one noun per file')
    module, end = os.path.splitext(os.path.basename(path))
    if end == '.py' and module in sys.stdlib_module_names:
        report.say(path, 1, f'{module} is a module of Python\'s own: find '
                   'another name')
    if end not in ('.c', '.h', '.cc', '.hpp'):
        continue
    for item in ctext.items(path, ctext.code(raw)):
        name = item.call()[0]
        if not item.body or not name:
            continue
        length = item.end_line - item.line + 1
        if length > MAX_LINES:
            report.say(path, item.line,
                       f'{name}() has {length} lines, at most {MAX_LINES}')
        elif length > NOTE_LINES:
            print(f'{path}:{item.line}: note: {name}() has {length} lines')
        if len(item.params()) > MAX_PARAMS and \
                not re.match(r'c[lu][A-Z]|GOMP_', name):
            report.say(path, item.line, f'{name}() has {len(item.params())} '
                       f'parameters, at most {MAX_PARAMS}')
        if path.startswith('lib/') and path.endswith('.c') and \
                item.head.startswith('static') and '_' not in name:
            report.say(path, item.line, f'static {name}() is one word: say '
                       f'what it does to what, as in {name}_item()')
        if levels(item.body) > MAX_LEVELS:
            report.say(path, item.line, f'{name}() has {levels(item.body)} '
                       f'levels, at most {MAX_LEVELS}')
report.end()
