#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Prints what control flow costs, of lkdf and of each peer, beside what it cost
before graphs were compiled at seal: control_table.py DIR [--quick]
[--rounds N].

DIR has the programs peer_lkdf_control, peer_taskflow_control, ... that lkdf
bench asks; a program that is not there has "-". The second table is in
instructions: callgrind runs a program for two numbers of iterations, and the
difference has no start in it; the check of the result is in it, for all alike.
Times are of the fastest of several questions, which go to the programs in turn.
Columns "was" are of commit fc46109, on another machine.
"""
import argparse
import os
import re
import subprocess
import sys

LESS, MORE, TIMED = 4000, 24000, 400000
VALGRIND = os.environ.get('VALGRIND', 'valgrind')

PROGRAMS = (('lkdf', 'peer_lkdf_control'), ('taskflow', 'peer_taskflow_control'),
            ('tbb', 'peer_tbb_control'))
ONCE = (('lkdf', 'peer_lkdf'), ('taskflow', 'peer_taskflow'), ('tbb', 'peer_tbb'))

# Row, question with %d iterations, and what took so long: lkdf, taskflow, tbb.
TIMES = (
    ('loop', 'control loop %d 1', (20.6, 15.3, None)),
    ('if', 'control if %d 1', (70.9, 43.0, None)),
    ('fork', 'control fork %d 1', (None, None, None)),
    ('machine/2', 'control machine2 %d 1', (47, 31, None)),
    ('machine/8', 'control machine8 %d 1', (228, 36, None)),
    ('machine/32', 'control machine32 %d 1', (872, 36, None)),
    ('machine/200', 'control machine200 %d 1', (5320, 55, None)),
    ('runs', 'control runs %d 1', (None, None, None)),
    ('SPPS', 'stream SPPS %d 0 1', (None, None, None)),
    ('SSSS', 'stream SSSS %d 0 1', (None, None, None)),
)
# SPPS of the old figures had 4 tokens under way, the row has 16.
INSTRUCTIONS = {'SPPS': (1071, 383, 706)}

# Paid once: row, unit, questions, divisor of ns, the old figures.
PAID = (
    ('seal/loops', 'ms', ('seal loops', None, None), 1e6, (28000, None, None)),
    ('seal/nested', 'ms', ('seal nested', None, None), 1e6,
     (42000, None, None)),
    ('seal/choice', 'ms', ('seal choice', None, None), 1e6,
     (None, None, None)),
)
LIVES = (
    ('once', 'ns/task', ('once tree 8191 1', 'cycle tree 8191 1',
                         'cycle tree 8191 1'), 8191, (797, 44, 106)),
    ('open', 'ms', ('open 1', 'open 1', 'open 1'), 1e6, (5.6, 0.1, None)),
)


def digits(value):
    """Three digits that count; "-" for what was not measured."""
    if value is None:
        return '-'
    places = 0 if value >= 100 else 1 if value >= 10 else 2
    return f'{value:.{places}f}'.rstrip('0').rstrip('.') if places else \
        f'{value:.0f}'


def answer(text):
    """The first number of an answer; None for a refusal."""
    m = re.search(r'^ok ([0-9.]+)', text, re.M)
    return float(m.group(1)) if m else None


def ask(path, question):
    """Asks a new process, as cold as lkdf bench asks about what is paid once."""
    if not question or not os.access(path, os.X_OK):
        return None
    run = subprocess.run([path], input=question + '\n', text=True,
                         capture_output=True, check=False)
    return answer(run.stdout)


def count(path, question):
    """Instructions of the process, or None."""
    if not os.access(path, os.X_OK):
        return None
    run = subprocess.run(
        [VALGRIND, '--tool=callgrind', '--callgrind-out-file=/dev/null',
         path], input=question + '\n', text=True, capture_output=True,
        check=False)
    m = re.search(r'Collected : (\d+)', run.stderr)
    return int(m.group(1)) if m and answer(run.stdout) is not None else None


def instructions(path, question):
    """Of one iteration."""
    less = count(path, question % LESS)
    more = count(path, question % MORE) if less is not None else None
    return None if more is None else (more - less) / (MORE - LESS)


def fastest(paths, questions, rounds):
    """The least answer of each program; they are asked in turn."""
    best = [None] * len(paths)
    for _ in range(rounds):
        for i, path in enumerate(paths):
            value = ask(path, questions[i])
            if value is not None and (best[i] is None or value < best[i]):
                best[i] = value
    return best


def table(heads, rows):
    """A simple table of reStructuredText."""
    size = [max(len(r[i]) for r in [heads] + rows) for i in range(len(heads))]
    rule = '  '.join('=' * n for n in size)
    print(rule)
    for i, row in enumerate([heads] + rows):
        print('  '.join(c.ljust(n) for c, n in zip(row, size)).rstrip())
        if not i:
            print(rule)
    print(rule)
    print()


def row_of(name, unit, new, old):
    """A row: each program has its figure and the old one beside it."""
    return [name, unit] + [digits(v) for pair in zip(new, old) for v in pair]


def main(where, quick, rounds):
    """Prints the two tables."""
    heads = ['row', 'unit'] + [h for name, _ in PROGRAMS
                               for h in (name, 'was')]
    paths = [os.path.join(where, p) for _, p in PROGRAMS]
    once = [os.path.join(where, p) for _, p in ONCE]
    times = TIMES[:1] if quick else TIMES

    rows = []
    for name, question, old in times:
        best = fastest(paths, [question % TIMED] * len(paths), rounds)
        rows.append(row_of(name, 'ns', [b and b / TIMED for b in best], old))
    for group, programs in ((PAID, paths), (LIVES, once)):
        for name, unit, questions, by, old in group[:0 if quick else None]:
            best = fastest(programs, questions, rounds)
            rows.append(row_of(name, unit, [b and b / by for b in best], old))
    table(heads, rows)

    try:
        subprocess.run([VALGRIND, '--version'], capture_output=True,
                       check=True)
    except OSError:
        print('instructions: no valgrind')
        return 0
    rows = [row_of(name, 'instructions',
                   [instructions(p, question) for p in paths],
                   INSTRUCTIONS.get(name, (None, None, None)))
            for name, question, _ in times]
    table(heads, rows)
    return 0


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description='what control flow costs')
    parser.add_argument('dir')
    parser.add_argument('--quick', action='store_true', help='one row')
    parser.add_argument('--rounds', type=int, default=15)
    given = parser.parse_args()
    sys.exit(main(given.dir, given.quick, given.rounds))
