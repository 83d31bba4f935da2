#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Every row of the option table in lib/api/config.c, and of the tables of
counters and events in lib/trace, has a help text and is named in its page of
the documentation.
"""
import re

import ctext

TABLE = re.compile(r'\bstruct\s+(option_row|counter_\w+|event_\w+)\s+\w+\s*'
                   r'\[\w*\]\s*=\s*\{')
PAGES = {'api': 'Documentation/options.rst', 'trace': 'Documentation/counters.rst'}
LIST = re.compile(r'^#define\s+\w*(?:COUNTER|EVENT)\w*\(\s*(\w+)\s*\)(?=\s*\\)',
                  re.M)
STRING = r'"((?:\\.|[^"\\])*)"'


def joined(row):
    """Adjacent string literals become one."""
    return re.sub(r'"\s*"', '', row)


def rows_of_tables(raw, text):
    for m in TABLE.finditer(text):
        at, end = m.end(), ctext.match_close(text, m.end() - 1)
        while at < end:
            stop, depth = at, 0
            while stop < end and (depth or text[stop] != ','):
                depth += (text[stop] in '([{') - (text[stop] in ')]}')
                stop += 1
            lead = len(text[at:stop]) - len(text[at:stop].lstrip())
            if text[at:stop].strip():
                yield at + lead, raw[at + lead:stop]
            at = stop + 1


def rows_of_lists(raw, text):
    for m in LIST.finditer(text):
        end = re.compile(r'(?<!\\)\n').search(text, m.end())
        end = end.start() if end else len(text)
        for row in re.finditer(r'\b' + m.group(1) + r'\s*\(', text[m.end():end]):
            at = m.end() + row.end() - 1
            yield at, re.sub(r'\\\n', '\n',
                             raw[at:ctext.match_close(text, at) + 1])


def name_and_help(row):
    row = joined(row)
    strings = re.findall(STRING, row)
    name = re.search(r'\.name\s*=\s*' + STRING, row)
    text = re.search(r'\.help\s*=\s*' + STRING, row)
    if name:
        return name.group(1), text.group(1) if text else ''
    first = re.match(r'[\w\s]*[({]\s*(?:"([\w.]+)"|(\w+))', row)
    known = (first.group(1) or first.group(2)) if first else '?'
    rest = strings[1:] if first and first.group(1) else strings
    return known, rest[-1] if rest and ' ' in rest[-1] else ''


found = []
for path in ctext.files('lib/api/config.c', 'lib/trace'):
    raw = ctext.read(path)
    text = re.sub(r'"[^"\n]*"', lambda m: '"' + ' ' * (len(m.group()) - 2) + '"',
                  ctext.code(raw))
    for rows in (rows_of_tables, rows_of_lists):
        found += [(path, ctext.line_of(raw, at), *name_and_help(row))
                  for at, row in rows(raw, text) if '"' in row]

if not found:
    ctext.skip('neither options nor counters have a table yet')
report = ctext.Report()
absent = set()
pages = {p: ctext.read(p) for p in ctext.files(*PAGES.values(), ends=('.rst',))}
for path, line, name, text in found:
    if not text.strip():
        report.say(path, line, f'{name} has no help text')
    page = PAGES[path.split('/')[1]]
    if page not in pages:
        absent.add(page)
    elif not re.search(r'(?<![\w.])' + re.escape(name) + r'(?!\w)',
                       pages[page]):
        report.say(path, line, f'{name} is not in {page}')
if absent and not report.bad:
    ctext.skip(f'all {len(found)} rows have help; no page ' +
               ', '.join(sorted(absent)))
report.end()
