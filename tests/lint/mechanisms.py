#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Each folder of lib/mechanism is one row of mechanism/rows.c, and each row is a
folder. The row's name is the folder's; it uses exactly the mechanisms whose
headers the folder includes; a field without which another one is wrong is
there: take without has loses wake-ups, before_sleep or announce without any
call at the end of the idle time leaves a worker as if it slept.
"""
import re

import ctext

TABLE = 'lib/mechanism/rows.c'
ROW = re.compile(r'^const struct mechanism (\w+)_mechanism = \{\n(.*?)^\};',
                 re.M | re.S)
# A row that has the field on the left needs one of those on the right.
NEEDS = {
    'take': ('has',),
    'spin': ('spin_ns',),
    'spin_ns': ('spin',),
    'has_news': ('pop',),
    'pop': ('has_news',),
    'answers': ('keeps',),
    'must_leave': ('stand_by',),
    'stand_by': ('must_leave',),
    'is_watched': ('watch',),
    'watch': ('is_watched',),
    'is_due': ('take_due',),
    'take_due': ('is_due',),
    'announce': ('leave', 'after_wake'),
    'before_sleep': ('leave', 'after_wake'),
}

if not ctext.files(TABLE):
    ctext.skip('there is no table of mechanisms')
report = ctext.Report()
table = ctext.read(TABLE)
listed = re.findall(r'&(\w+)_mechanism,', table)
rows, includes = {}, {}
for path in ctext.files('lib/mechanism', ends=('.c', '.h')):
    part = path.split('/')
    if len(part) != 4:
        continue
    text = ctext.read(path)
    includes.setdefault(part[2], set()).update(
        re.findall(r'^#include "mechanism/(\w+)/', text, re.M))
    for m in ROW.finditer(text):
        rows[m.group(1)] = path, ctext.line_of(text, m.start()), m.group(2)
        if m.group(1) != part[2]:
            report.say(path, ctext.line_of(text, m.start()),
                       f'the row {m.group(1)} is in the folder {part[2]}')
for name in sorted(set(listed) - set(rows)):
    report.say(TABLE, 1, f'{name} is listed, and has no row in a folder')
for folder in sorted(set(includes) - set(rows)):
    report.say(TABLE, 1, f'lib/mechanism/{folder} has no row: define '
               f'{folder}_mechanism there')
for name, (path, line, body) in sorted(rows.items()):
    if name not in listed:
        report.say(path, line, f'add &{name}_mechanism to {TABLE}')
    fields = dict(re.findall(r'^\t\.(\w+) = (.*?),$', body, re.M))
    if fields.get('name') != f'"{name}"':
        report.say(path, line, f'.name is "{name}"')
    for field, needed in NEEDS.items():
        if field in fields and not set(needed) & set(fields):
            report.say(path, line, f'.{field} needs .{" or .".join(needed)}')
    uses = set(fields.get('uses', '""').strip('"').split())
    others = includes.get(name, set()) - {name}
    for other in sorted(others - uses):
        report.say(path, line, f'it calls {other}: add that to .uses')
    for other in sorted(uses - others):
        report.say(path, line, f'it includes nothing of {other}: drop that '
                   'from .uses')
report.end()
