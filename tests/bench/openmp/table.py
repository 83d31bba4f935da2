#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
table.py PROGRAM LIBRARY [ROUNDS]: programs of OpenMP with liblkdf-gomp beside
libgomp, on CPUs of their own and on CPUs that other threads use, too. Medians
of runs that take turns: libgomp by its default, passive and active waiting,
lkdf, and one thread. Exit status 0 whether bars are met or not.
"""
import os
import statistics
import subprocess
import sys

CASES = [('static', 8), ('dynamic', 8), ('dynamic50', 8), ('guided', 8),
         ('tasks', 3), ('short', 5), ('empty', 10)]
WAYS = {'lkdf': {}, 'libgomp': {}, 'passive': {'OMP_WAIT_POLICY': 'passive'},
        'active': {'OMP_WAIT_POLICY': 'active'}, 'serial': {}}
NO_VALUE = ('OMP_', 'GOMP_', 'LKDF_')


def environment(way, library, threads):
    env = {k: v for k, v in os.environ.items() if not k.startswith(NO_VALUE)}
    env.update(WAYS[way])
    env['OMP_NUM_THREADS'] = '1' if way == 'serial' else str(threads)
    if way == 'lkdf':
        env['LD_PRELOAD'] = library
    return env


def run(program, case, nr, env):
    """ns of wall time and of CPU time, and the result."""
    out = subprocess.run([program, case, str(nr)], env=env, check=True,
                         stdout=subprocess.PIPE, timeout=300).stdout.split()
    return float(out[0]), float(out[1]), out[2]


class Hogs:
    """As many processes that compute as there are CPUs, or none."""

    def __init__(self, nr):
        self.nr, self.hogs = nr, []

    def __enter__(self):
        for _ in range(self.nr):
            self.hogs.append(subprocess.Popen(
                [sys.executable, '-c', 'while True: pass']))

    def __exit__(self, *_):
        for hog in self.hogs:
            hog.kill()
            hog.wait()


def measure(program, library, case, nr, rounds, threads):
    """Medians by way: wall, CPU."""
    found = {way: [] for way in WAYS}
    result = None
    for _ in range(rounds):
        for way in WAYS:
            wall, cpu, sum_ = run(program, case, nr,
                                  environment(way, library, threads))
            if result not in (None, sum_):
                sys.exit(f'{case}: {way} has computed {sum_}, not {result}')
            result = sum_
            found[way].append((wall, cpu))
    return {way: tuple(statistics.median(x[i] for x in found[way])
                       for i in (0, 1)) for way in found}


def judge(case, loaded, m):
    """(ratio, bar, met) of lines of the table: higher is better for us."""
    wall = m['lkdf'][0]
    best = min(m[way][0] for way in ('libgomp', 'passive', 'active'))
    default = m['libgomp'][0]
    if loaded:
        yield 'best/lkdf', best / wall, 1.0
        if case not in ('tasks', 'short', 'empty'):
            yield 'serial/lkdf CPU', m['serial'][1] / m['lkdf'][1], 1 / 1.1
    elif case == 'tasks':
        yield 'libgomp/lkdf', default / wall, 3.0
    elif case == 'empty':
        yield 'libgomp/lkdf', default / wall, 1 / 1.2
    else:
        yield 'libgomp/lkdf', default / wall, 1.0


def tell(case, load, m, lines):
    name = f'{case}/{load}'
    print(f'{name:<18}' + ''.join(f'{m[way][0] / 1000:>9.3g}' for way in WAYS) +
          f'{m["lkdf"][1] / 1000:>10.3g}{m["serial"][1] / 1000:>9.3g}', end='')
    for i, (what, ratio, bar) in enumerate(lines):
        print(('' if i == 0 else '\n' + ' ' * 82) +
              f'  {what:<16}{ratio:>6.3g}{bar:>6.2f}'
              f'  {"yes" if ratio >= bar else "no"}', end='')
    print(flush=True)


def main():
    program, library = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    threads = len(os.sched_getaffinity(0))
    print(f'{threads} threads, medians of {rounds} runs, us; loaded: '
          f'{threads} more threads compute')
    print(f'{"row":<18}' + ''.join(f'{way:>9}' for way in WAYS) +
          f'{"lkdf CPU":>10}{"serial":>9}  {"ratio":<16}{"":>6}{"bar":>6}  met')
    for load, hogs in (('idle', 0), ('loaded', threads)):
        with Hogs(hogs):
            for case, nr in CASES:
                m = measure(program, library, case, nr, rounds, threads)
                tell(case, load, m, list(judge(case, hogs > 0, m)))


if __name__ == '__main__':
    main()
