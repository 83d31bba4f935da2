#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Locked operations a unit (task, value, call of a loop) of each shape, by place.

	rmw.py PROGRAM          prints them, with lines and labels of orders
	rmw.py --table PROGRAM  prints tests/rmw/table.txt: the most of 40 rounds
	rmw.py --test PROGRAM   fails where a row is more than the table has

A row of the table is a shape, a number of workers, a file and a function; "all"
is the sum. Each run is another one: a row has grown if the least of five rounds
is more than a seventh above the table's most. How often a thread goes to sleep
is the clock's to say: the table is without what goes with that. How often a
thief comes, how much the owner of an inbox finds in it, how many tasks a worker
runs in one go, and who held a line last are the clock's to say within a bound:
what belongs to that is compared as one row, "pace", and the operations on lines
of others as one sum. Of a loop the clock says nearly everything: who comes, and
into how many pieces it is cut; all of it is pace. On two CPUs at most, so that
a machine of many is no other case; half of the table's rounds have only one.
"""
import collections
import os
import re
import subprocess
import sys

SHAPES = ('stencil', 'tree', 'fib', 'submit', 'stream-empty', 'stream',
          'channel', 'loop')
WORKERS = (1, 2, 16)
ROUNDS = 5
TABLE_ROUNDS = 40
CPUS = 2
SMALL = 0.05  # a unit: what is less has no row
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'table.txt')
LABEL = re.compile(r'\[[a-z][a-z0-9_]*\.[a-z0-9_]+\]')
ABOVE = 6  # lines, as in tests/lint/labels.py

BY_CLOCK = ('lib/sched/park.c', 'lib/sched/wake_depth.c',
            'lib/trace/counters.h', 'lib/scope/event.c')

# Once for each steal, request, look or burst, not for each unit.
BY_PACE = ('lib/sched/deque.h', 'lib/sched/steal_request.h',
           'lib/sched/worker.c', 'lib/mechanism/publish/publish.c', 'lib/mechanism/far/far.c',
           'inbox_take_all', 'lock_pool', 'frame_resolved')
ALL_PACE = ('loop',)

ALLOWED = os.sched_getaffinity(0)

Place = collections.namedtuple('Place', 'file line function nr moved')


def use_cpus(nr):
    """What this program starts from now on runs on so many CPUs at most."""
    os.sched_setaffinity(0, sorted(ALLOWED)[:nr])


def run(program, shape, workers):
    """Places of one run, a unit each."""
    text = subprocess.run([program, shape, str(workers)], check=True,
                          stdout=subprocess.PIPE, timeout=120).stdout.decode()
    lines = [line.split() for line in text.splitlines()]
    units = int(lines[0][1])
    return [Place(f[0], int(f[1]), f[2], int(f[3]) / units, int(f[4]) / units)
            for f in lines[1:]]


def rows_of(places):
    """(file, function): locked, moved; of what is not small, and of all."""
    rows = collections.defaultdict(lambda: [0, 0])
    for p in places:
        if p.file in BY_CLOCK:
            continue
        for key in (('all', '-'), (p.file, p.function)):
            rows[key][0] += p.nr
            rows[key][1] += p.moved
    return {k: v for k, v in rows.items() if v[0] >= SMALL or k[0] == 'all'}


def label_of(place):
    """The label of the order of that line; a relaxed one has none."""
    with open(place.file, encoding='utf-8') as f:
        lines = f.read().splitlines()[:place.line]
    for line in reversed(lines[-ABOVE:]):
        found = LABEL.search(line)
        if found:
            return found.group()
        if line == '}':
            break
    return 'relaxed'


def show(program):
    use_cpus(CPUS)
    for shape in SHAPES:
        for workers in WORKERS:
            places = run(program, shape, workers)
            print('%s, %d workers: %.2f locked operations a unit, %.2f on '
                  'lines of another thread'
                  % (shape, workers, sum(p.nr for p in places),
                     sum(p.moved for p in places)))
            for p in sorted(places, key=lambda p: -p.nr):
                if p.nr >= SMALL / 2:
                    print('  %7.2f %7.2f  %s:%d %s() %s'
                          % (p.nr, p.moved, p.file, p.line, p.function,
                             label_of(p)))


def most_of(program, shape, workers):
    most = {}
    for i in range(TABLE_ROUNDS):
        use_cpus(1 if i % 2 else CPUS)
        for key, v in rows_of(run(program, shape, workers)).items():
            old = most.get(key, (0, 0))
            most[key] = [max(old[0], v[0]), max(old[1], v[1])]
    return most


def write_table(program):
    print('# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause')
    print('# Locked operations a unit, and those on lines of another thread.')
    print('# make rmw-table writes this, make check compares: rmw.py.')
    for shape in SHAPES:
        for workers in WORKERS:
            most = most_of(program, shape, workers)
            for key in sorted(most, key=lambda k: (k[0] != 'all', k)):
                print('%s %d %s %s %.2f %.2f'
                      % ((shape, workers) + key + tuple(most[key])))


def read_table():
    table = {}
    with open(TABLE, encoding='utf-8') as f:
        for line in f:
            w = line.split()
            if w and w[0] != '#':
                table.setdefault((w[0], int(w[1])), {})[w[2], w[3]] = \
                    float(w[4]), float(w[5])
    return table


def paced(shape, rows):
    """As the test compares them: (file, function): locked, or lines moved."""
    rest = {('lines of others', '-'): rows['all', '-'][1]}
    for (name, function), (locked, _) in rows.items():
        if name == 'all':
            continue
        if shape in ALL_PACE or name in BY_PACE or function in BY_PACE:
            name, function = 'pace', '-'
        rest[name, function] = rest.get((name, function), 0) + locked
    return rest


def grown(shape, bars, rows):
    """Rows that are more than their bar, and what they have."""
    over = {}
    bars = paced(shape, bars)
    for key, v in paced(shape, rows).items():
        bar = bars.get(key, 0)
        if key[1] == '-':
            most = bar * 1.5 + 0.5
        else:
            most = bar * 1.15 + 2 * SMALL
        if v > most:
            over[key] = v, bar
    return over


def test(program):
    table = read_table()
    use_cpus(CPUS)
    nr = 0
    for shape in SHAPES:
        for workers in WORKERS:
            bars = table[shape, workers]
            over = grown(shape, bars,
                         rows_of(run(program, shape, workers)))
            for _ in range(ROUNDS - 1):
                if not over:
                    break
                again = grown(shape, bars,
                              rows_of(run(program, shape, workers)))
                over = {k: min(v, again[k]) for k, v in over.items()
                        if k in again}
            nr += 1
            print('%sok %d - %s, %d workers: no locked operation more'
                  % ('not ' if over else '', nr, shape, workers))
            for key, (v, bar) in sorted(over.items()):
                print('# %s %s: %.2f, table %.2f' % (key + (v, bar)))
    print('1..%d' % nr)


def main():
    args = sys.argv[1:]
    work = {'--table': write_table, '--test': test}.get(args[0], show)
    work(args[-1])


main()
