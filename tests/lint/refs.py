#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Comments of C sources name files and functions that are there. A file is named
by its path or the end of it, such as sched/park.h; without a folder it is one
of the same part of the tree, as lib or tools. A function is named by name().
Names of others count where code says them, too; the rest is in refs.words.
"""
import os
import re

import ctext

NAMED_FILE = re.compile(r'(?<![\w./<[-])((?:[a-z_0-9]+/)*[a-z_0-9]+\.(?:bpf\.)?'
                        r'(?:c|h|cc|hpp|py|sh|rst|mk))\b(?![\w(/-])')
NAMED_CALL = re.compile(r'(?<![\w.>:-])([a-z_]\w*)\(\)')
IDENTIFIER = re.compile(r'[A-Za-z_]\w*')
INCLUDED = re.compile(r'(?m)^[ \t]*#[ \t]*include[ \t]*<([^>]+)>')
SHELL_FUNCTION = re.compile(r'(?m)^(\w+)\(\)')

report = ctext.Report()


def ends_of(paths):
    """Paths and their ends: with a folder anywhere, without one by part."""
    ends = set()
    for path in paths:
        folders = path.split('/')
        ends |= {'/'.join(folders[i:]) for i in range(len(folders) - 1)}
        ends.add((folders[0], folders[-1]))
    return ends


def words():
    with open(os.path.join(os.path.dirname(__file__), 'refs.words'),
              encoding='utf-8') as f:
        return {line.strip() for line in f if line[0] != '#'}


def is_there(name, path, ends):
    """A test, an example or a bench names files of the library, too."""
    part = path.split('/')[0]
    parts = {part, 'lib'} if part == 'Documentation' else {part}
    if part == 'tests':
        parts |= {'lib', 'tools', 'bpf', 'kmod', 'Documentation'}
    parts.add('tests')
    return name in ends or any((p, name) in ends for p in parts)


def main():
    paths = ctext.files(ends=('',))
    texts = {p: ctext.read(p) for p in paths
             if p.endswith(('.c', '.h', '.cc', '.hpp'))}
    known = words()
    for path in paths:
        if path.endswith('.sh'):
            known |= set(SHELL_FUNCTION.findall(ctext.read(path)))
    for text in texts.values():
        known |= set(IDENTIFIER.findall(ctext.code(text)))
        known |= set(INCLUDED.findall(text))
    ends = ends_of(paths) | known
    for path, text in texts.items():
        said = ctext.comments(text)
        for m in NAMED_FILE.finditer(said):
            if not is_there(m.group(1), path, ends):
                report.say(path, ctext.line_of(said, m.start()),
                           f'there is no file {m.group(1)} here')
        for m in NAMED_CALL.finditer(said):
            if m.group(1) not in known:
                report.say(path, ctext.line_of(said, m.start()),
                           f'there is no function {m.group(1)}()')
    report.end()


main()
