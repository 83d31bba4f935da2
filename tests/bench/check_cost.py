#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
What lkdf check costs: CPU time of the programs of check_cost.c in serial mode without a
sanitizer, compiled with -fsanitize=thread, and that below lkdf check. The three take
turns; medians are printed, in milliseconds, and the last as a multiple of the second.

	tests/bench/check_cost.py [ROUNDS]        (default 5)

BUILD: the library's and the tool's build. A compiler without the sanitizer is a row that
says so. Not a test: it judges nothing.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get('BUILD', 'build'))
SOURCE = 'tests/bench/check_cost.c'
FORMS = ('chains', 'loose', 'bodies')


def build(cc, to, *more):
    return subprocess.run([cc, '-std=c11', '-O2', '-g', '-Ilib/include', *more, '-o', to,
                           SOURCE, f'-L{BUILD}', '-llkdf', f'-Wl,-rpath,{BUILD}'],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def milliseconds(words):
    """User and system time of the command and of all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or 'race' in done.stderr:
        sys.exit(f'check_cost: {" ".join(words)}: {done.returncode}\n{done.stderr}')
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(cc, work, rounds):
    plain, tsan = f'{work}/{cc}', f'{work}/{cc}-tsan'
    if not build(cc, plain) or not build(cc, tsan, '-fsanitize=thread'):
        print(f'{cc:8} has no thread sanitizer here')
        return
    for form in FORMS:
        ways = ([plain, form], [tsan, form], [f'{BUILD}/lkdf', 'check', '--', tsan, form])
        took = [[] for _ in ways]
        for _ in range(rounds):
            for way, t in zip(ways, took):
                t.append(milliseconds(way))
        a, b, c = (statistics.median(t) for t in took)
        print(f'{cc:8} {form:8} {a:8.0f} {b:8.0f} {c:8.0f} {c / b:8.1f}', flush=True)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(f'{"compiler":8} {"tasks":8} {"plain":>8} {"tsan":>8} {"check":>8} {"ratio":>8}')
    with tempfile.TemporaryDirectory() as work:
        for cc in ('gcc', 'clang'):
            if shutil.which(cc):
                measure(cc, work, rounds)


main()
