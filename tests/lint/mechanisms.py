#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Each folder of lib/mechanism is one row of mechanism/rows.h, and each row is a
folder. The row's name is the folder's; it uses exactly the mechanisms whose
headers the folder includes; a field without which another one is wrong is
there: take without has loses wake-ups, before_sleep or announce without any
call at the end of the idle time leaves a worker as if it slept.

The data of a mechanism is its own: the row states it, and nobody else names the
slot. The table of architecture.rst has the rows with their words, and for.txt of
tests/ablate says what each is for; off.txt has each mode of runs, and settings of
options that there are. A field of sched's structs that mechanisms alone
use, or whose comment names a header of one, belongs there. struct worker has few
fields and idle.c few headers, so that one can read how a worker finds work.
"""
import re

import ctext

TABLE = 'lib/mechanism/rows.h'
ROW = re.compile(r'^const struct mechanism (\w+)_mechanism = \{\n(.*?)^\};',
                 re.M | re.S)
# A row that has the field on the left needs one of those on the right.
NEEDS = {
    'take': ('has',),
    'has': ('take',),
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

# The function of a header that reads the slot, and the field that has the data.
ACCESS = {'of': 'of_worker', 'at': 'of_node', 'in': 'of_sched'}
STRUCTS = {
    'lib/sched/worker.h': ('worker', 'sched_node'),
    'lib/sched/sched.h': ('sched',),
}
MOST_FIELDS = 28  # of struct worker
MOST_HEADERS = 6  # of idle.c


def fields_of(text, struct):
    """Name, line and comment behind it, of the fields of a struct."""
    code = ctext.code(text)
    m = re.search(rf'^struct {struct} \{{\n(.*?)^\}};', code, re.M | re.S)
    found, at = [], m.start(1) if m else 0
    for decl in re.findall(r'[^;]*;', m.group(1)) if m else []:
        line = ctext.line_of(text, at + len(decl) - len(decl.lstrip()))
        decl = re.sub(r'_Alignas\([^()]*\)|_Atomic\(|\[[^]]*\]|\)(?=[ ;])', ' ',
                      decl)
        for one in decl.split(','):
            found.append((re.findall(r'\w+', one)[-1], line))
        at = code.index(';', at) + 1
    return found


if not ctext.files(TABLE):
    ctext.skip('there is no table of mechanisms')
report = ctext.Report()
table = ctext.read(TABLE)
listed = {}
for m in re.finditer(r'^\tROW\((\w+), (\w+)\)', table, re.M):
    line = ctext.line_of(table, m.start())
    listed[m.group(1)] = line
    if m.group(2) != m.group(1).upper():
        report.say(TABLE, line, f'the slot is {m.group(1).upper()}')
rows, includes, slots = {}, {}, {}
for path in ctext.files('lib/mechanism', ends=('.c', '.h')):
    part = path.split('/')
    if len(part) != 4:
        continue
    text = ctext.read(path)
    includes.setdefault(part[2], set()).update(
        re.findall(r'^#include "mechanism/(\w+)/', text, re.M))
    slots.setdefault(part[2], set()).update(
        re.findall(rf'\b{part[2]}_(of|at|in)\(const', text))
    for m in ROW.finditer(text):
        rows[m.group(1)] = path, ctext.line_of(text, m.start()), m.group(2)
        if m.group(1) != part[2]:
            report.say(path, ctext.line_of(text, m.start()),
                       f'the row {m.group(1)} is in the folder {part[2]}')
for name in sorted(set(listed) - set(rows)):
    report.say(TABLE, listed[name], f'{name}_mechanism is in no folder {name}')
for folder in sorted(set(includes) - set(rows)):
    report.say(TABLE, 1, f'lib/mechanism/{folder} has no row: define '
               f'{folder}_mechanism there')
for name, (path, line, body) in sorted(rows.items()):
    if name not in listed:
        report.say(path, line, f'add ROW({name}, {name.upper()}) to {TABLE}')
    fields = dict(re.findall(r'^\t\.(\w+) = (.*?),$', body, re.M))
    if fields.get('name') != f'"{name}"':
        report.say(path, line, f'.name is "{name}"')
    for field, needed in NEEDS.items():
        if field in fields and not set(needed) & set(fields):
            report.say(path, line, f'.{field} needs .{" or .".join(needed)}')
    for kind, owner in ACCESS.items():
        if kind in slots.get(name, ()) and f'\t.{owner} =' not in body:
            report.say(path, line, f'{name}_{kind}() has no data: add .{owner}')
    uses = set(fields.get('uses', '""').strip('"').split())
    for other in sorted(set(fields.get('needs', '""').strip('"').split()) -
                        uses):
        report.say(path, line, f'.needs has {other}, .uses has not: a row '
                   'needs what it calls')
    others = includes.get(name, set()) - {name}
    for other in sorted(others - uses):
        report.say(path, line, f'it calls {other}: add that to .uses')
    for other in sorted(uses - others):
        report.say(path, line, f'it includes nothing of {other}: drop that '
                   'from .uses')
others = {path: ctext.code(ctext.read(path))
          for path in ctext.files('lib', ends=('.c', '.h'))}
for path, text in sorted(others.items()):
    for m in re.finditer(r'\bSLOT_([A-Z_]+)\b', text):
        folder = m.group(1).lower()
        if path != TABLE and not path.startswith(f'lib/mechanism/{folder}/'):
            report.say(path, ctext.line_of(text, m.start()),
                       f'the data is {folder}\'s: call a function of it')
names = '|'.join(sorted(rows)) or '$^'
for path, structs in sorted(STRUCTS.items()):
    if not ctext.files(path):
        continue
    text = ctext.read(path)
    lines = text.split('\n')
    for struct in structs:
        fields = fields_of(text, struct)
        if struct == 'worker' and len(fields) > MOST_FIELDS:
            report.say(path, fields[0][1], f'struct worker has {len(fields)} '
                       f'fields, of at most {MOST_FIELDS}')
        for field, line in fields:
            m = re.search(rf'\b({names})\.[ch]\b', lines[line - 1])
            users = [p for p in others
                     if re.search(rf'(->|\.){field}\b', others[p])]
            if m:
                report.say(path, line, f'{field} is of {m.group(1)}: data of '
                           'its row')
            elif users and all(u.startswith('lib/mechanism/') for u in users):
                report.say(path, line, f'mechanisms alone use {field}: data '
                           'of a row')
for path in ctext.files('lib/sched/idle.c'):
    headers = re.findall(r'^#include "', ctext.read(path), re.M)
    if len(headers) > MOST_HEADERS:
        report.say(path, 1, f'it includes {len(headers)} headers, of at most '
                   f'{MOST_HEADERS}')
PAGE = 'Documentation/internals/architecture.rst'
said = re.findall(r'^\tROW\((\w+), \w+\) /\* (.*?) \*/', table, re.M)
for path in ctext.files(PAGE, ends=('.rst',)):
    text = ctext.read(path)
    shown = re.findall(r'^``(\w+)`` {2,}(.*?)  ', text, re.M)
    for row in said:
        if row not in shown:
            report.say(path, 1, f'the table of mechanisms lacks ``{row[0]}``  '
                       f'{row[1]}')
    listed_there = [row for row in shown if row in said]
    if not set(said) - set(shown) and listed_there != said:
        report.say(path, 1, f'the table of mechanisms has another order than {TABLE}')
FOR = 'tests/ablate/for.txt'
for path in ctext.files(FOR, ends=('.txt',)):
    named = re.findall(r'^(\w+)\t', ctext.read(path), re.M)
    for name, _ in said:
        if name not in named:
            report.say(path, 1, f'{name}: say which row of lkdf bench it is for')
OFF = 'tests/ablate/off.txt'
modes = [m for path in ctext.files('lib/run/mode.c')
         for m in re.findall(r'&(\w+)_mode\b', ctext.read(path))]
options = [m for path in ctext.files('lib/api/config.c')
           for m in re.findall(r'\.name = "(\w+)"', ctext.read(path))]
for path in ctext.files(OFF, ends=('.txt',)):
    text = ctext.read(path)
    for mode in modes:
        if not re.search(rf'^{mode}\t', text, re.M):
            report.say(path, 1, f'{mode}: say what switches this mode of runs off')
    for m in re.finditer(r'^\w+\t(\S+\t\S+)\t', text, re.M):
        for name in set(re.findall(r'(\w+)=', m.group(1))):
            if name not in options:
                report.say(path, ctext.line_of(text, m.start()),
                           f'{name} is no option')
report.end()
