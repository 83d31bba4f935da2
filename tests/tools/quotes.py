#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Finds the C code of a page in the programs below a directory, function by
function and line by line. quotes.py PAGE DIRECTORY; exit status 1 where one is
not found, or where the page has none. A block without a semicolon is no code.
In Markdown a block is fenced, and is C by its first line.
"""
import pathlib
import re
import sys


def blocks(page):
    """Literal blocks, each without the tab in front, and fenced ones."""
    for m in re.finditer(r'::\n\n((?:\t.*\n|\n(?=\n*\t))+)', page):
        yield re.sub(r'^\t', '', m.group(1), flags=re.M)
    for m in re.finditer(r'^```c\n(.*?)^```$', page, flags=re.M | re.S):
        yield m.group(1)


def pieces(page):
    """Functions of the blocks."""
    for block in blocks(page):
        if ';' in block:
            yield from re.split(r'(?<=\n}\n)\n+', block)


page, where = sys.argv[1:]
programs = ['\n' + f.read_text() for f in pathlib.Path(where).rglob('*')
            if f.suffix in ('.c', '.h', '.cc', '.hpp')]
found = missing = 0
for piece in pieces(pathlib.Path(page).read_text()):
    # From the front of a line: not the end of a longer one
    if any('\n' + piece in p for p in programs):
        found += 1
    else:
        missing += 1
        print(f'{page}: in no program of {where}:\n{piece}')
if not found:
    print(f'{page}: no code of {where}')
sys.exit(missing > 0 or not found)
