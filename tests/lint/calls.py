#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
What lib must not call: thread fences, atomics outside base/atomic.h, anything
that prints or ends the process. lib/cuda is a plugin and obeys the same.
"""
import re

import ctext

ATOMIC_H = {'lib/base/atomic.h'}
# check() says where it failed and stops; that is all it is for.
CHECK_C = {'lib/base/check.c', 'lib/api/check_state.c'}
# Where glibc's malloc ends the process, ours must, too.
START_C = {'lib/malloc/start.c', 'lib/base/thrown.c'}
# A library beside liblkdf has no log of a runtime.
MPI_C = {'lib/mpi/open.c', 'lib/mpi/share.c', 'lib/mpi/watch.c', 'lib/gomp/say.c'}
# A program of OpenMP that nobody can run as it is must not go on, nor a rank that
# waits for one that is dead, nor a program in serial mode that waits for nobody.
REFUSE_C = {'lib/gomp/say.c', 'lib/mpi/watch.c', 'lib/rt/stuck.c'}
RULES = [
    (r'atomic_(?:thread|signal)_fence|__sync_synchronize'
     r'|__atomic_(?:thread|signal)_fence|_mm_[lms]fence|__builtin_ia32_[lms]fence'
     r'|smp_[rw]?mb', set(), 'no fences: put the order on the access'),
    (r'atomic_[a-z_]+(?=\s*\()|__atomic_\w+|__sync_\w+', ATOMIC_H,
     'use the a_ names of base/atomic.h'),
    (r'(?:v?f?printf|puts|fputs|putchar|fputc|putc|perror|fwrite|stdout|stderr'
     r'|psignal|v?syslog|v?dprintf)', CHECK_C | MPI_C,
     'the library prints nothing: log_text() or err()'),
    (r'(?:_?_?exit|_Exit|quick_exit|abort|__builtin_trap|__assert_fail|assert)'
     r'(?=\s*\()', CHECK_C | START_C | REFUSE_C, 'return an error, or check() the impossible'),
]

report = ctext.Report()
for path in ctext.files('lib'):
    raw = ctext.read(path)
    text = ctext.ATTRIBUTE.sub(lambda m: ctext.blank(m.group()),
                               ctext.code(raw))
    for pattern, allowed, advice in RULES:
        if path in allowed:
            continue
        for m in re.finditer(r'(?<![\w.>])(?:' + pattern + r')\b', text):
            report.say(path, ctext.line_of(text, m.start()),
                       f'{m.group()}: {advice}')
    for i, line in enumerate(raw.split('\n'), 1):
        if re.match(r'\s*#\s*include\s*<(stdatomic\.h|assert\.h)>', line) and \
                path not in ATOMIC_H:
            report.say(path, i, 'include "base/atomic.h" or "base/util.h"')
        if re.search(r'(asm|__asm__)\b.*\b[lms]fence\b', line):
            report.say(path, i, 'no fences: put the order on the access')
report.end()
