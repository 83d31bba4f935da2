#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
table.py PROGRAM LIBRARY [NAME...]: ordinary programs (patterns.cc), all or those
named, with liblkdf-malloc beside the other allocators that can be preloaded here.
Medians of runs that take turns. A row has the time of lkdf, the times of the others by it
(above 1: lkdf is faster), lkdf's time by that of the best of them, in wall and in
CPU time, and lkdf's peak of resident memory by mimalloc's. Exit status 0 whether
bars are met or not, 1 where a program failed or computed something else.
"""
import argparse
import os
import statistics
import subprocess
import sys

ROWS = [(name, nr) for name in ('tree', 'in-order', 'at-random', 'vectors',
                                'documents') for nr in (1, 2, 4)]
ROWS += [('pair', 2), ('pair', 4)]
PEERS = {'glibc': [''],
         'mimalloc': ['libmimalloc.so.2', 'libmimalloc.so.2.0',
                      'libmimalloc.so.3'],
         'jemalloc': ['libjemalloc.so.2'],
         'tcmalloc': ['libtcmalloc_minimal.so.4'],
         'tbbmalloc': ['libtbbmalloc_proxy.so.2']}
BAR_TIME = 1.05
BAR_RESIDENT = 1.15
WALL, CPU, PEAK = range(3)


def environment(preload):
    env = {k: v for k, v in os.environ.items()
           if k not in ('LD_PRELOAD', 'LKDF_MALLOC')}
    if preload:
        env['LD_PRELOAD'] = preload
    return env


def is_loaded(preload):
    """A library that the loader does not find is only a line on stderr."""
    maps = subprocess.run(['cat', '/proc/self/maps'], check=False,
                          env=environment(preload), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()
    return os.path.basename(preload).split('.so')[0] in maps


def allocators(library):
    """What is preloaded, by name, of those that are here; lkdf is the first."""
    found = {'lkdf': library}
    if not is_loaded(library):
        sys.exit(f'table.py: {library} cannot be preloaded')
    for name, ways in PEERS.items():
        for way in ways:
            if name not in found and (not way or is_loaded(way)):
                found[name] = way
        if name not in found:
            print(f'absent: {name}, {ways[0]} cannot be preloaded')
    return found


def run(program, row, preload):
    """(wall ns, CPU ns, peak kB), and the result."""
    out = subprocess.run([program, row[0], str(row[1])] + row[2:], check=False,
                         env=environment(preload), stdout=subprocess.PIPE,
                         timeout=300)
    word = out.stdout.split()
    if out.returncode or len(word) != 4:
        sys.exit(f'{row[0]}/{row[1]} failed with {preload or "glibc"}')
    return [float(x) for x in word[:3]], word[3]


def measure(program, row, found, rounds):
    """Medians by allocator: wall, CPU, peak."""
    got = {name: [] for name in found}
    result = None
    names = list(found)
    for i in range(rounds):
        for k in range(len(names)):
            name = names[(i + k) % len(names)]
            value, sum_ = run(program, row, found[name])
            if result not in (None, sum_):
                sys.exit(f'{row[0]}/{row[1]}: {name} has computed '
                         f'{sum_.decode()}, not {result.decode()}')
            result = sum_
            got[name].append(value)
    return {name: [statistics.median(x[i] for x in got[name])
                   for i in (WALL, CPU, PEAK)] for name in names}


def by_best(m, what):
    peers = [m[name][what] for name in m if name != 'lkdf']
    return m['lkdf'][what] / min(peers)


def cells(row, m, found):
    mine = m['lkdf']
    yield f'{row[0]}/{row[1]}'
    yield f'{mine[WALL] / 1e6:.3g}'
    for name in found:
        if name != 'lkdf':
            yield f'{m[name][WALL] / mine[WALL]:.2f}'
    yield f'{by_best(m, WALL):.2f}'
    yield 'yes' if by_best(m, WALL) <= BAR_TIME else 'no'
    yield f'{by_best(m, CPU):.2f}'
    if 'mimalloc' in m:
        resident = mine[PEAK] / m['mimalloc'][PEAK]
        yield f'{resident:.2f}'
        yield 'yes' if resident <= BAR_RESIDENT else 'no'


def heads(found):
    yield from ('row', 'lkdf, ms')
    yield from (name for name in found if name != 'lkdf')
    yield from ('by best', 'held', 'CPU by best')
    if 'mimalloc' in found:
        yield from ('resident', 'held')


def arguments():
    p = argparse.ArgumentParser(
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__.strip())
    p.add_argument('program', help='built of patterns.cc')
    p.add_argument('library', help='liblkdf-malloc.so')
    p.add_argument('name', nargs='*', help='a pattern')
    p.add_argument('--rounds', type=int, default=11, help='runs of each')
    p.add_argument('--small', action='store_true',
                   help='a moment of each pattern, for tests')
    return p.parse_intermixed_args()


def main():
    args = arguments()
    more = ['1'] if args.small else []
    if not os.access(args.program, os.X_OK):
        sys.exit(f'table.py: no {args.program}: a C++ compiler builds it')
    found = allocators(args.library)
    print(f'{len(os.sched_getaffinity(0))} CPUs, load '
          f'{os.getloadavg()[0]:.1f}; medians of {args.rounds} runs; bars '
          f'{BAR_TIME} of the best, {BAR_RESIDENT} of mimalloc\'s memory')
    size = [max(12, len(h)) + 2 if i == 0 else max(5, len(h)) + 2
            for i, h in enumerate(heads(found))]

    def line(words):
        print(''.join(w.ljust(n) for w, n in zip(words, size)).rstrip(),
              flush=True)

    line(heads(found))
    for row in ROWS:
        if not args.name or row[0] in args.name:
            m = measure(args.program, list(row) + more, found, args.rounds)
            line(cells(row, m, found))
    print(f'load {os.getloadavg()[0]:.1f} at the end')


if __name__ == '__main__':
    main()
