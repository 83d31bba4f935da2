#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Puts what the benches have printed (build/bench-SUITE.json) into a page of
figures: figures.py PAGE JSON...

The section of a suite has a field Command that names it, "bench SUITE" or
"bench-SUITE". Its fields Command, Machine, Date and Commit and the first table
behind them are made anew; the words between stay, and somebody has to read them
again. A suite without a section gets one at the end of the page.
"""
import json
import os
import re
import subprocess
import sys
import time

HEADS = ('row', 'workers', 'lkdf', 'unit', 'floor', 'peer', 'its', 'ratio',
         'bar', 'held')
FIELDS = ('Command', 'Machine', 'Date', 'Commit')


def digits(value):
    """Three digits that count; "" for what was not measured."""
    if value is None:
        return ''
    size = abs(value)
    if value == int(value) and size < 1000:
        return str(int(value))
    places = 0 if size >= 100 else 1 if size >= 10 else 2
    return f'{value:.{places}f}'


def held(row):
    if row['ok'] is None:
        return '' if row['bar'] is None else 'open'
    return 'yes' if row['ok'] else 'no'


def table(rows):
    """Lines of a simple table; columns in which nothing stands are left out."""
    names = [r['name'] for r in rows]
    cells = [{'row': r['name'],
              'workers': str(r['workers'])
              if len(set(names)) < len(names) else '',
              'lkdf': digits(r['value']),
              'unit': r['unit'],
              'floor': digits(r['floor']),
              'peer': r['peer'] or '',
              'its': digits(r['peer_value']),
              'ratio': digits(r['ratio']),
              'bar': digits(r['bar']),
              'held': held(r)} for r in rows]
    heads = [h for h in HEADS if any(c[h] for c in cells)]
    size = {h: max([len(h)] + [len(c[h]) for c in cells]) for h in heads}
    rule = '  '.join('=' * size[h] for h in heads)

    def line(of):
        return '  '.join(of(h).ljust(size[h]) for h in heads).rstrip()
    return [rule, line(lambda h: h), rule,
            *(line(lambda h, c=c: c[h]) for c in cells), rule]


def machine(m):
    cpu = re.sub(r'\((R|TM)\)', '', m['cpu'])
    return f'{m["cpus"]} CPUs of {" ".join(cpu.split())}, {m["kernel"]}'


def commit():
    out = subprocess.run(['git', 'describe', '--always', '--dirty=, changed',
                          '--exclude=*'], stdout=subprocess.PIPE, text=True,
                         check=False)
    return out.stdout.strip() or 'unknown'


def fields(data, path):
    day = time.strftime('%Y-%m-%d', time.gmtime(os.path.getmtime(path)))
    quick = ' --quick' if data['quick'] else ''
    return {'Command': f'``lkdf bench {data["suite"]}{quick}``',
            'Machine': machine(data['machine']), 'Date': day,
            'Commit': commit()}


def find(lines, suite):
    """Where the fields of a suite's section begin, or None."""
    for at, line in enumerate(lines):
        if re.match(rf':Command:.*\bbench[ -]{suite}\b', line):
            return at
    return None


def is_rule(line):
    return re.match(r'=+(  =+)+$', line) is not None


def put(lines, at, made, rows):
    """The fields from there on, and the first table of the section."""
    end = at
    while re.match(r':\w+:', lines[end]):
        end += 1
    lines[at:end] = [f':{name}: {made[name]}' for name in FIELDS]
    at += len(FIELDS)
    while at < len(lines) and not is_rule(lines[at]):
        if lines[at].startswith(':Command:'):
            raise ValueError('its section has no table')
        at += 1
    end = at + 3
    while lines[end] != lines[at]:
        end += 1
    lines[at:end + 1] = table(rows)


def append(lines, made, rows, suite):
    title = f'Suite {suite}'
    lines += ['', title, '=' * len(title), '',
              *(f':{name}: {made[name]}' for name in FIELDS), '', *table(rows)]


def main():
    page = sys.argv[1]
    with open(page, encoding='utf-8') as f:
        lines = f.read().splitlines()
    for path in sys.argv[2:]:
        with open(path, encoding='utf-8') as f:
            data = json.load(f)
        if data['schema'] != 'lkdf/bench/1' or 'suite' not in data:
            raise ValueError(f'{path}: not what lkdf bench --out writes')
        made, at = fields(data, path), find(lines, data['suite'])
        if at is None:
            append(lines, made, data['rows'], data['suite'])
            print(f'{page}: {data["suite"]}: a new section at the end')
            continue
        put(lines, at, made, data['rows'])
        print(f'{page}:{at + 1}: {data["suite"]}: {len(data["rows"])} rows; '
              'read the words of the section again')
    with open(page + '.new', 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n')
    os.replace(page + '.new', page)


if len(sys.argv) < 3:
    sys.exit('usage: figures.py PAGE JSON...')
try:
    main()
except (OSError, KeyError, ValueError, IndexError) as e:
    sys.exit(f'figures.py: {e}')
