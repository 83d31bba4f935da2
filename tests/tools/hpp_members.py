#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Finds, for each public name of lkdf's C++ headers, a program that uses it: names
of namespace lk and public members of its classes, outside of detail. Prints
those that no program has; exit status 1 where there is one.
hpp_members.py HEADER... -- PROGRAM...
"""
import pathlib
import re
import sys

# What only the headers and the compiler call.
INNER = {'promise_type', 'awaiter', 'home', 'task', 'flags', 'of_limit',
         'of_scope', 'argument', 'forked', 'parameter', 'error_of', 'how',
         'some', 'in_port', 'out_port', 'use', 'w', 'o'}
# Words before a parenthesis that declare nothing.
NO_CALLS = {'if', 'for', 'while', 'switch', 'return', 'sizeof', 'decltype',
            'alignof', 'noexcept', 'static_assert', 'operator', 'must',
            'defined', 'alignas', 'explicit', 'catch', 'throw'}


def plain(text):
    """The text without comments, strings and lines of the preprocessor."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/', '', text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    return re.sub(r'^#(.*\\\n)*.*$', '', text, flags=re.M)


def without(text, opening):
    """The text without what stands in braces behind each match."""
    out, at = '', 0
    for m in re.finditer(opening, text):
        if m.start() < at:
            continue
        out += text[at:m.start()]
        at, depth = m.end(), 1
        while depth and at < len(text):
            depth += {'{': 1, '}': -1}.get(text[at], 0)
            at += 1
    return out + text[at:]


def public_part(text):
    """Classes begin private, and a label changes that until the next one."""
    text = without(text, r'namespace detail\s*\{')
    out, is_open, opens = [], [True], True
    for line in text.split('\n'):
        label = re.match(r'\s+(public|private|protected):', line)
        if label:
            is_open[-1] = label.group(1) == 'public'
            continue
        if is_open[-1]:
            out.append(line)
        kind = re.search(r'(?:^|\s)(class|struct) \w+[^;()<>]*$', line)
        if kind:
            opens = kind.group(1) == 'struct'
        for brace in re.findall('[{}]', line):
            if brace == '{':
                is_open.append(is_open[-1] and opens)
                opens = True
            elif len(is_open) > 1:
                is_open.pop()
    return '\n'.join(out)


def names(header):
    """What the header declares for its users."""
    # One tab at most: deeper lines are statements.
    shown = [line for line in public_part(plain(header)).split('\n')
             if re.match(r'\t?[A-Za-z\[]', line)]
    for line in shown:
        for m in re.finditer(r'\b(?:class|struct) (\w+)\s*(?:$|[:{])', line):
            yield m.group(1)
        m = re.search(r'\b(\w+)\((?!\*)', line)
        if m and m.group(1) not in NO_CALLS and not re.search(
                r'(=|return|\?)\s.*\b' + m.group(1) + r'\(', line):
            yield m.group(1)


split = sys.argv.index('--')
uses = '\n'.join(plain(pathlib.Path(p).read_text())
                 for p in sys.argv[split + 1:])
found = missing = 0
for path in sys.argv[1:split]:
    for name in sorted(set(names(pathlib.Path(path).read_text()))):
        if name in INNER or re.match('lkdf_|await_', name):
            continue
        if re.search(r'\b' + name + r'\b', uses):
            found += 1
        else:
            missing += 1
            print(f'{path}: no program uses {name}')
if found < 100:
    print(f'{found} names are too few: the headers are read wrongly')
sys.exit(missing > 0 or found < 100)
