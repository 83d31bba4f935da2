#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
make ablate: what each mechanism of workers is worth. The library is built without
one row of lib/mechanism/rows.h after the other, with what cannot work then:

oracle        random programs, which have to do what their model does all the same
instructions  of an item in the five hot loops (loops.c), in serial mode, by
              callgrind: these do not depend on the load of the machine
bench         rows of lkdf bench that for.txt names for the mechanism: time without
              it / time with it, the median of pairs that ran one after the other
models        the programs of tests/mc that search the mechanism's orders

Results are kept in $BUILD/ablate, a file for each mechanism and step: what is there
is not measured again. ROW=gate measures one, ABLATE_SECONDS=10 is the quick mode: it
bounds the oracle, makes one pair of each row of bench, and no models. The table is
printed, and written to $BUILD/ablate/table.txt.
"""
import fnmatch
import glob
import json
import os
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
HEAD = ('mechanism', 'lines', 'oracle', 'instructions', 'bench', 'verdict')


def say(text):
    print(time.strftime('%H:%M:%S ') + text, file=sys.stderr, flush=True)


def run(words, lib=None, limit=None, more=None):
    """What it prints on both, and its status; -1: it did not end in time."""
    env = dict(os.environ, **(more or {}))
    if lib:
        env['LD_LIBRARY_PATH'] = lib
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


def oracle(lib):
    words = [f'{BUILD}/tests/oracle/oracle', '--programs', '500']
    if SECONDS:
        words += ['--seconds', str(SECONDS)]
    text, rc = run(words, lib, limit=60 + 4 * (SECONDS or 300))
    if rc < 0:
        return 'hangs'
    if rc:
        return 'refused' if 'built without' in text else 'fails'
    return 'passes'


def count(lib):
    """Instructions of an item, by loop."""
    result = {}
    for loop in LOOPS:
        nr = []
        for items in (ITEMS, 2 * ITEMS):
            text, rc = run(['valgrind', '--tool=callgrind',
                            '--callgrind-out-file=/dev/null',
                            f'{BUILD}/tests/ablate/loops', loop, str(items)],
                           lib, more={'LKDF_SERIAL': 'yes',
                                      'LKDF_STATIC_RUNS': '0',
                                      'LKDF_LOOP_REGIONS': 'no'})
            if rc:
                sys.exit(f'ablate: {loop}: {text}')
            nr.append(int(text.rsplit('Collected : ', 1)[1].split()[0]))
        result[loop] = (nr[1] - nr[0]) / ITEMS
    return result


def values(suite, patterns, lib):
    text, _ = run([f'{BUILD}/lkdf-bench', suite, '--quick', '--json',
                   '-q'], lib, limit=300)
    try:
        rows = json.loads(text[text.index('{'):text.rindex('}') + 1])['rows']
    except ValueError:
        return {}
    return {r['name']: r['value'] for r in rows if r['value'] and any(
        fnmatch.fnmatch(f'{suite}/{r["name"]}', p) for p in patterns)}


def bench(patterns, lib):
    """Time without / time with, by row: the median of the pairs."""
    pairs = {}
    for i in range(1 if SECONDS else 7):
        for suite in sorted({p.split('/')[0] for p in patterns}):
            order = [None, lib] if i % 2 else [lib, None]
            got = {which: values(suite, patterns, which) for which in order}
            for name in got[None].keys() & got[lib].keys():
                pairs.setdefault(f'{suite}/{name}', []).append(
                    got[lib][name] / got[None][name])
    return {name: statistics.median(v) for name, v in sorted(pairs.items())}


def models(row):
    """Of the programs of the checker that name the mechanism: those that fail."""
    named = [os.path.basename(p)[:-2] for p in sorted(glob.glob('tests/mc/mc_*.c'))
             if f'mechanism/{row}/' in open(p, encoding='utf-8').read()]
    failed = [n for n in named if run([f'{BUILD}/tests/mc/{n}'])[1]]
    return {'named': named, 'failed': failed}


def show_bench(ratios):
    if not ratios:
        return '-'
    name, worst = max(ratios.items(), key=lambda r: r[1])
    return f'{statistics.median(ratios.values()):.2f}, {worst:.2f} {name}'


def judge(row, why, where):
    if why:
        return f'stays: {why}'
    if row['oracle'] in ('hangs', 'fails'):
        return f'programs {row["oracle"][:-1]} without it'
    if row['oracle'] == 'refused':
        return f'programs want it: {where}'
    ratios = list(row.get('bench', {}).values())
    if ratios and max(ratios) > 1.1 and len(ratios) and not SECONDS:
        return f'worth it: {where}'
    return f'measure it on: {where}'


def line(name, reasons, base):
    lines = sum(open(p, encoding='utf-8').read().count('\n')
                for p in glob.glob(f'lib/mechanism/{name}/*.[ch]'))
    patterns, where = reasons[name]
    lib, what = build(name)
    if not lib:
        return (name, lines, '-', '-', '-', judge({}, what, where))
    row = {'oracle': kept(name, 'oracle', lambda: oracle(lib))}
    text = '-'
    if base:
        nr = kept(name, 'count', lambda: count(lib))
        change = [100 * (base[k] / nr[k] - 1) for k in LOOPS]
        text = ' '.join(f'{c:+.1f}' for c in change)
    if patterns and 'bench' not in SKIP:
        row['bench'] = kept(name, 'bench', lambda: bench(patterns, lib))
    if not SECONDS and 'models' not in SKIP:
        row['models'] = kept(name, 'models', lambda: models(name))
    others = [w for w in what if w != name]
    shown = name + (f' (and {", ".join(others)})' if others else '')
    return (shown, lines, row['oracle'], text, show_bench(row.get('bench')),
            judge(row, None, where))


def read_reasons():
    result = {}
    for text in open('tests/ablate/for.txt', encoding='utf-8'):
        if not text.startswith('#'):
            name, patterns, where = text.rstrip('\n').split('\t')
            result[name] = patterns.split(',') if patterns != '-' else [], where
    return result


def main():
    os.makedirs(OUT, exist_ok=True)
    reasons = read_reasons()
    rows = [r for r in run([SCRIPT, 'rows'])[0].split()
            if os.environ.get('ROW') in (None, '', r)]
    if not rows:
        sys.exit(f'ablate: ROW={os.environ["ROW"]}: no such mechanism')
    has_valgrind = run(['sh', '-c', 'command -v valgrind'])[1] == 0
    base = kept('all', 'count', lambda: count(BUILD)) if has_valgrind else None
    table = [HEAD]
    for row in rows:
        table.append(tuple(str(c) for c in line(row, reasons, base)))
        say(' | '.join(table[-1]))
    wide = [max(len(r[i]) for r in table) for i in range(len(HEAD))]
    text = '\n'.join('  '.join(c.ljust(w) for c, w in zip(r, wide)).rstrip()
                     for r in table) + '\n'
    if base:
        text += 'instructions of an item: ' + ', '.join(
            f'{k} {base[k]:.0f}' for k in LOOPS) + '; what the mechanism adds, %\n'
    with open(f'{OUT}/table.txt', 'w', encoding='utf-8') as f:
        f.write(text)
    print(text, end='')


main()
