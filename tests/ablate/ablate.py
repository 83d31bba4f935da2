#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
make ablate: what each mechanism of workers is worth, and each mode of runs and option
of tests/ablate/off.txt. The library is built without one row of lib/mechanism/rows.h
after the other, with what cannot work then; a row of off.txt is switched off by a
setting of the same library.

oracle        random programs, which have to do what their model does all the same
instructions  of an item in the five hot loops (loops.c), in serial mode, by
              callgrind: these do not depend on the load of the machine
bench         rows of lkdf bench that for.txt or off.txt names: time without it /
              time with it, the median of pairs that ran one after the other
models        the programs of tests/mc that have sources of it: how many pass; they
              search the orders of the library as it is

Results are kept in $BUILD/ablate, a file for each row and step: what is there
is not measured again. ROW=gate measures one, ABLATE_SECONDS=10 is the quick mode: it
bounds the oracle, makes one pair of each row of bench, and no models. The table is
printed, and written to $BUILD/ablate/table.txt.
"""
import fnmatch
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time

BUILD = os.environ.get('BUILD', 'build')
OUT = f'{BUILD}/ablate'
SECONDS = int(os.environ.get('ABLATE_SECONDS') or 0)
SKIP = os.environ.get('ABLATE_SKIP', '').split(',')
LOOPS = ('plain', 'tokens', 'control', 'spawn', 'submit')
ITEMS = 5000
SCRIPT = 'lib/mechanism/without.sh'
HEAD = ('row', 'lines', 'oracle', 'instructions', 'bench', 'models', 'verdict')
# Of the hot loops: as few as possible goes on beside them.
QUIET = {'LKDF_SERIAL': 'yes', 'LKDF_STATIC_RUNS': '0', 'LKDF_LOOP_REGIONS': 'no'}
# A program of the checker, and the sources that it checks.
MODELS = dict(w.split('=') for w in os.environ.get('ABLATE_MODELS', '').split())


def say(text):
    print(time.strftime('%H:%M:%S ') + text, file=sys.stderr, flush=True)


class Way:
    """A library, or the one of this build, and settings as in the environment."""

    def __init__(self, lib=None, settings='-'):
        self.env = {'LKDF_' + s.split('=')[0].upper(): s.split('=')[1]
                    for s in settings.split(',') if s != '-'}
        if lib:
            self.env['LD_LIBRARY_PATH'] = lib


def run(words, way=None, limit=None, more=None):
    """What it prints on both, and its status; -1: it did not end in time."""
    env = dict(os.environ, **(more or {}))
    env.update(way.env if way else {})
    try:
        done = subprocess.run(words, env=env, timeout=limit, text=True,
                              capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return '', -1
    return done.stdout + done.stderr, done.returncode


def kept(name, step, measure):
    """The result of a step: that of the last time, or what measure() returns."""
    path = f'{OUT}/{name}.{step}.json'
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            return json.load(f)
    say(f'{name}: {step}')
    result = measure()
    with open(path + '.new', 'w', encoding='utf-8') as f:
        json.dump(result, f)
    os.rename(path + '.new', path)
    return result


def build(row):
    """The folder with the library without it, or why there is none; what went."""
    rows = [row]
    while True:
        text, _ = run([SCRIPT, 'check', *rows])
        if 'leave that out as well: WITHOUT=' not in text:
            break
        rows = text.strip().rsplit('=', 1)[1].split(',')
    if text:
        return None, text.strip().rsplit(': ', 1)[1]
    folder = f'{BUILD}/without-' + '-'.join(sorted(rows))
    lib = f'{folder}/{os.path.basename(glob.glob(BUILD + "/liblkdf.so.*.*")[0])}'
    text, rc = run(['make', '-s', 'QUIET=1', f'BUILD={BUILD}',
                    'WITHOUT=' + ','.join(rows), lib])
    if rc:
        sys.exit(f'ablate: WITHOUT={",".join(rows)}: {text}')
    return folder, rows


def oracle(way):
    words = [f'{BUILD}/tests/oracle/oracle', '--programs', '500']
    if SECONDS:
        words += ['--seconds', str(SECONDS)]
    text, rc = run(words, way, limit=60 + 4 * (SECONDS or 300))
    if rc < 0:
        return 'hangs'
    if rc:
        return 'refused' if 'built without' in text else 'fails'
    return 'passes'


def count(way):
    """Instructions of an item, by loop."""
    result = {}
    for loop in LOOPS:
        nr = []
        for items in (ITEMS, 2 * ITEMS):
            text, rc = run(['valgrind', '--tool=callgrind',
                            '--callgrind-out-file=/dev/null',
                            f'{BUILD}/tests/ablate/loops', loop, str(items)],
                           way, more=QUIET)
            if rc:
                sys.exit(f'ablate: {loop}: {text}')
            nr.append(int(text.rsplit('Collected : ', 1)[1].split()[0]))
        result[loop] = (nr[1] - nr[0]) / ITEMS
    return result


def values(suite, patterns, way):
    text, _ = run([f'{BUILD}/lkdf-bench', suite, '--quick', '--json',
                   '-q'], way, limit=300)
    try:
        rows = json.loads(text[text.index('{'):text.rindex('}') + 1])['rows']
    except ValueError:
        return {}
    return {r['name']: r['value'] for r in rows if r['value'] and any(
        fnmatch.fnmatch(f'{suite}/{r["name"]}', p) for p in patterns)}


def bench(patterns, on, off):
    """Time without / time with, by row: the median of the pairs."""
    pairs = {}
    for i in range(1 if SECONDS else 7):
        for suite in sorted({p.split('/')[0] for p in patterns}):
            order = [on, off] if i % 2 else [off, on]
            got = {which: values(suite, patterns, which) for which in order}
            for name in got[on].keys() & got[off].keys():
                pairs.setdefault(f'{suite}/{name}', []).append(
                    got[off][name] / got[on][name])
    return {name: statistics.median(v) for name, v in sorted(pairs.items())}


def headers_of(model):
    """Those that its own file names."""
    with open(f'tests/mc/{model}.c', encoding='utf-8') as f:
        return {f'lib/{h}' for h in re.findall(r'^#include "(.*)"', f.read(), re.M)}


def models(files):
    """Of the programs of the checker with one of the files: those that fail."""
    named = [n for n, sources in sorted(MODELS.items())
             if set(files) & (set(sources.split(':')) | headers_of(n))]
    failed = [n for n in named
              if kept(n, 'model', lambda n=n: run([f'{BUILD}/tests/mc/{n}'])[1])]
    return {'named': named, 'failed': failed}


def show_models(row):
    if 'models' not in row:
        return '-'
    named, failed = row['models']['named'], row['models']['failed']
    return (f'{len(named) - len(failed)} of {len(named)}' if named else 'none') + \
        ''.join(f', {n} fails' for n in failed)


def show_bench(ratios):
    if not ratios:
        return '-'
    name, worst = max(ratios.items(), key=lambda r: r[1])
    return f'{statistics.median(ratios.values()):.2f}, {worst:.2f} {name}'


def judge(row, where):
    if row['oracle'] in ('hangs', 'fails'):
        return f'programs {row["oracle"][:-1]} without it'
    if row['oracle'] == 'refused':
        return f'programs want it: {where}'
    ratios = list(row.get('bench', {}).values())
    if ratios and max(ratios) > 1.1 and len(ratios) and not SECONDS:
        return f'worth it: {where}'
    return f'measure it on: {where}'


def measure(name, row):
    """A line of the table: on and off are ways, or why it stays."""
    lines = sum(open(p, encoding='utf-8').read().count('\n') for p in row['files'])
    shown, where = row.get('shown', name), row['where']
    if 'why' in row:
        return (shown, lines or '-', '-', '-', '-', '-', f'stays: {row["why"]}')
    on, off = row['on'], row['off']
    got = {'oracle': kept(name, 'oracle', lambda: oracle(off))}
    text = '-'
    if row['base']:
        base = row['base']()
        nr = kept(name, 'count', lambda: count(row.get('counted', off)))
        change = [100 * (base[k] / nr[k] - 1) for k in LOOPS]
        text = ' '.join(f'{c:+.1f}' for c in change)
    if row['rows'] and 'bench' not in SKIP:
        got['bench'] = kept(name, 'bench', lambda: bench(row['rows'], on, off))
    if 'models' not in SKIP and not SECONDS:
        got['models'] = models(row['files'])
    return (shown, lines or '-', got['oracle'], text, show_bench(got.get('bench')),
            show_models(got), judge(got, where))


def of_mechanism(name, reasons, base):
    patterns, where = reasons[name]
    lib, what = build(name)
    row = {'files': sorted(glob.glob(f'lib/mechanism/{name}/*.[ch]')),
           'rows': patterns, 'where': where}
    if not lib:
        return dict(row, why=what)
    others = [w for w in what if w != name]
    return dict(row, on=Way(), off=Way(lib), base=base,
                shown=name + (f' (and {", ".join(others)})' if others else ''))


def switched(line, base):
    """A row of off.txt."""
    name, on, off, counted, files, rows, where = line
    row = {'files': sorted(p for f in files.split(',') if f != '-'
                           for p in glob.glob(f) if p.endswith(('.c', '.h'))),
           'rows': rows.split(',') if rows != '-' else [], 'where': where}
    if off == '-':
        return dict(row, why=where)
    counts = Way(settings=f'{on},{counted}'), Way(settings=f'{off},{counted}')
    return dict(row, on=Way(settings=on), off=Way(settings=off), counted=counts[1],
                base=base and (
                    lambda: kept(name, 'count-on', lambda: count(counts[0]))))


def read_lines(path):
    with open(path, encoding='utf-8') as f:
        return [t.rstrip('\n').split('\t') for t in f if not t.startswith('#')]


def read_reasons():
    return {name: (rows.split(',') if rows != '-' else [], where)
            for name, rows, where in read_lines('tests/ablate/for.txt')}


def main():
    os.makedirs(OUT, exist_ok=True)
    reasons = read_reasons()
    has_valgrind = run(['sh', '-c', 'command -v valgrind'])[1] == 0
    base = (lambda: kept('all', 'count', lambda: count(Way()))) if has_valgrind \
        else None
    rows = {r: lambda r=r: of_mechanism(r, reasons, base)
            for r in run([SCRIPT, 'rows'])[0].split()}
    rows.update({t[0]: lambda t=t: switched(t, base)
                 for t in read_lines('tests/ablate/off.txt')})
    wanted = os.environ.get('ROW', '').split(',') if os.environ.get('ROW') else rows
    for name in wanted:
        if name not in rows:
            sys.exit(f'ablate: ROW={name}: no such row')
    table = [HEAD]
    for name in wanted:
        table.append(tuple(str(c) for c in measure(name, rows[name]())))
        say(' | '.join(table[-1]))
    wide = [max(len(r[i]) for r in table) for i in range(len(HEAD))]
    text = '\n'.join('  '.join(c.ljust(w) for c, w in zip(r, wide)).rstrip()
                     for r in table) + '\n'
    if base:
        text += 'instructions of an item: ' + ', '.join(
            f'{k} {nr:.0f}' for k, nr in base().items()) + '; what the row adds, %\n'
    with open(f'{OUT}/table.txt', 'w', encoding='utf-8') as f:
        f.write(text)
    print(text, end='')


main()
