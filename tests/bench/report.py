#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
report.py LKDF [SLICES]: time and memory of lkdf report on so many bodies (ten
million), against lkdf trace check of that file, and the size of a page of a
million. Four workers, bodies of about 400 ns, each made ready by the one
before it on its worker. Both commands run five times in turns; CPU times are
medians, memory is that of the largest run. Exit status 1: a bar is missed.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, 'tests/api/report')
from recording import START, Trace, s, u  # noqa: E402

PER_CHUNK = 4096
ROUNDS = 5


class Long(Trace):
    """Chunks of bodies that differ in their start only."""

    def __init__(self, slices):
        super().__init__(4)
        self.slices = slices
        self.kind = [self.name('work'), self.name('more')]

    def bodies(self):
        links, out = b'', b''
        for i in range(PER_CHUNK):
            out += s(60 + i * 7 % 30) + u(300 + i * 37 % 200) + \
                u(self.kind[i % 5 == 0]) + s(0)
            # Ready 20 ns after the one before it began to end.
            links += u(2 << 1 | 8) + s(-1) + s(400 + i * 37 % 60)
        return links, out

    def chunks(self):
        parts = list(super().chunks())
        links, out = self.bodies()
        yield from parts[:-2]
        at = START
        for k in range(self.slices // PER_CHUNK):
            if k % 4 == 0 and k:
                at += PER_CHUNK * 480
            number = k // 4 * PER_CHUNK
            first = u(2 << 1 | 9) + s(number) + s(-1) + s(400)
            yield 9, u(k % 4) + u(at) + first + links[len(
                u(2 << 1 | 8) + s(-1) + s(400)):]
            yield 5, u(k % 4) + u(at) + u(0) + out
        yield 7, u(0) + u(START) + u(self.slices)
        yield 8, u(self.slices // PER_CHUNK * PER_CHUNK) + u(0) + u(0) + u(0)


def run(*command):
    """Seconds of CPU time and MiB of memory."""
    with open(os.devnull, 'w') as null:
        p = subprocess.Popen(command, stdout=null)
        _, status, usage = os.wait4(p.pid, 0)
    if status:
        sys.exit(f'{" ".join(command)}: status {status}')
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def row(name, value, unit, ratio, bar):
    print(f'{name:26} {value:9.2f} {unit:4} {ratio:9.2f} <= {bar:<5} '
          f'{"ok" if ratio <= bar else "FAIL"}')
    return ratio <= bar


def measure(lkdf, slices, folder):
    path, page = folder + '/a.lkdf', folder + '/a.html'
    Long(slices).write(path)
    check, report = [], []
    for _ in range(ROUNDS):
        check.append(run(lkdf, 'trace', 'check', path))
        report.append(run(lkdf, 'report', path))
    of_check, of_report = (statistics.median(x[0] for x in y)
                           for y in (check, report))
    memory = max(x[1] for x in report)
    few = min(slices, 1000000)
    Long(few).write(path)
    run(lkdf, 'report', path, '--html', page)
    size = os.path.getsize(page) / 1e6
    print(f'{"report":26} {"":9} {"":4} {"ratio":>9}    bar')
    print(f'{"check":26} {of_check:9.2f} s')
    return all([
        row(f'report/{slices}', of_report, 's', of_report / of_check, 25),
        row(f'report/{slices}/memory', memory, 'MiB', memory, 1024),
        row(f'page/{few}', size, 'MB', size, 12)])


def main():
    slices = int(sys.argv[2]) if len(sys.argv) > 2 else 10000000
    with tempfile.TemporaryDirectory() as folder:
        return not measure(sys.argv[1], slices, folder)


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.exit(main())
