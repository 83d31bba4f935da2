#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
README quotes rows of Documentation/figures.rst as they are. A row of README is
| `NAME`: words | lkdf | other | ratio | machine | date |; its three numbers are
in the row NAME of the page, date and machine are those of that table.
"""
import os
import re
import sys

README = 'README.md'
PAGE = 'Documentation/figures.rst'
NAMES = ('lkdf', 'its', 'ratio')
# Columns of tables that have other heads for a time
ALIAS = {'lkdf, ns/task': 'lkdf', 'peer': 'its'}


def cells(line, rule):
    """The cells of a line below a rule such as ====  ===."""
    return [line[m.start():m.end()].strip() for m in re.finditer('=+', rule)]


def heads(line, rule):
    """Names of columns; "peer" is a name where there is "its", else a time."""
    h = cells(line, rule)
    return h if 'its' in h else [ALIAS.get(x, x) for x in h]


def table(lines, at):
    """Rows by name of the table whose first rule is lines[at]; where it ends."""
    rule, rows = lines[at], {}
    head = heads(lines[at + 1], rule)
    at += 3
    while lines[at] != rule:
        row = cells(lines[at], rule)
        rows[row[0]] = dict(zip(head, row))
        at += 1
    return rows, at


def figures(text):
    """Each row by its name: numbers by column, Machine and Date."""
    found, fields = {}, {}
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        m = re.match(r':(Machine|Date): (.*)', lines[at])
        if m:
            fields[m.group(1)] = m.group(2)
        elif re.match(r'=+  =', lines[at]) and 'Date' in fields:
            rows, at = table(lines, at)
            for name, row in rows.items():
                found[name] = {**row, **fields}
        at += 1
    return found


def number(cell):
    m = re.match(r'[0-9.]+', cell)
    return m.group(0) if m else cell


def wrong(quote, row):
    """What of a row of README is not so, words."""
    for name, cell in zip(NAMES, quote[1:]):
        if row.get(name) != number(cell):
            yield f'no {number(cell)} in column {name} of {PAGE}'
    machine, date = quote[4:6]
    if not re.search(rf'\b{re.escape(machine)}\b', row['Machine']):
        yield f'{machine} is not the machine of that table'
    if date != row['Date']:
        yield f'{date} is not the date of that table'


def main():
    if not os.path.exists(PAGE):
        return 0
    with open(PAGE, encoding='utf-8') as f:
        rows = figures(f.read())
    with open(README, encoding='utf-8') as f:
        lines = f.readlines()
    quoted, said = 0, []
    for nr, line in enumerate(lines, 1):
        m = re.match(r'\| `([^`]+)`:', line)
        if not m:
            continue
        quoted += 1
        name = m.group(1)
        quote = [c.strip() for c in line.strip()[1:-1].split('|')]
        if name not in rows:
            said.append(f'{README}:{nr}: {name}: no such row in {PAGE}')
        else:
            said += [f'{README}:{nr}: {name}: {w}'
                     for w in wrong(quote, rows[name])]
    if not quoted:
        said.append(f'{README}:1: no row of {PAGE} is quoted')
    for s in said:
        print(s)
    return 1 if said else 0


sys.exit(main())
