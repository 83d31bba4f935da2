#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
report.py LKDF [SLICES]: time and memory of lkdf report on so many bodies (ten
million), against lkdf trace check of that file, and the size of a page of a
million. Four workers, bodies of about 400 ns, each made ready by the one
before it on its worker.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, 'tests/api/report')
from trace import START, Trace, s, u  # noqa: E402

PER_CHUNK = 4096


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


def timed(*command):
    begin = time.time()
    with open(os.devnull, 'w') as null:
        p = subprocess.Popen(command, stdout=null)
        _, status, usage = os.wait4(p.pid, 0)
    if status:
        sys.exit(f'{" ".join(command)}: status {status}')
    return usage.ru_utime + usage.ru_stime, time.time() - begin, \
        usage.ru_maxrss / 1024


def main():
    lkdf = sys.argv[1]
    slices = int(sys.argv[2]) if len(sys.argv) > 2 else 10000000
    with tempfile.TemporaryDirectory() as folder:
        path, page = folder + '/a.lkdf', folder + '/a.html'
        Long(slices).write(path)
        size = os.path.getsize(path)
        print(f'{slices} bodies, {size / slices:.1f} bytes each')
        check = timed(lkdf, 'trace', 'check', path)
        report = timed(lkdf, 'report', path)
        print(f'trace check  {check[0]:7.2f} s CPU')
        print(f'report       {report[0]:7.2f} s CPU  {report[2]:6.0f} MiB')
        print(f'ratio        {report[0] / check[0]:7.1f}    (bar: 25, and '
              f'1024 MiB for ten million)')
        Long(min(slices, 1000000)).write(path)
        timed(lkdf, 'report', path, '--html', page)
        print(f'page of {min(slices, 1000000)} bodies: '
              f'{os.path.getsize(page) / 1e6:.1f} MB (bar: 12)')


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
main()
