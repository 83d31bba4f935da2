#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
No mutable globals in lib: what stands at file scope, and every static in a
function, is const; for pointers the pointer itself, too.
"""
import re

import ctext

# Where one is allowed, and why.
ALLOWED = {
    'lib/base/thread.c': 'the TLS pointer, its key, records of the first threads',
    'lib/base/lock_owner.c': 'the number of a thread, in its own storage',
    'lib/api/default.c': 'one runtime for the libraries of a process',
    'lib/base/clock.c': 'how fast the one clock of the machine goes',
    'lib/topo/kept.c': 'the machine is one for all runtimes of a process',
    'lib/core/stock.c': 'fork() and the end of a thread need all runtimes',
    'lib/mem/registry.c': 'fork() and the end of a thread need all heaps',
    'lib/malloc/start.c': 'malloc() has one heap per process',
    'lib/malloc/malloc.c': 'the TLS pointer and what stands for no cache',
    'lib/gomp/elf.c': 'files of the process, as they are mapped',
    'lib/gomp/league.c': 'omp_set_num_teams() sets it for the process',
    'lib/gomp/old.c': 'the region that a thread is in, and a line said once',
    'lib/gomp/names.c': 'functions of the process have one name each',
    'lib/gomp/places.c': 'OMP_PLACES is the process\'s, a place a thread\'s',
    'lib/gomp/pool.c': 'OpenMP has one pool for each thread that begins regions',
    'lib/gomp/settings.c': 'OMP_* variables are the process\'s',
    'lib/gomp/theirs.c': 'calls of libgomp are found once',
    'lib/gomp/sync.c': 'critical and atomic have one lock per process',
    'lib/gomp/team.c': 'what a thread is to OpenMP, in its own storage',
    'lib/trace/last_signal.c': 'a handler of a signal is the whole process\'s',
}
NO_OBJECT = re.compile(r'typedef\b|extern\b(?!.*=)|_Static_assert\b|static_assert\b', re.S)


def is_prototype(head):
    """f(...), but not a pointer to a function."""
    return head.endswith(')') and not re.match(r'[^()]*\(\s*\*', head)


def is_mutable(head):
    """Of a declaration with one declarator."""
    head = ctext.ATTRIBUTE.sub(' ', head).split('=')[0].strip()
    if NO_OBJECT.match(head) or is_prototype(head):
        return False
    m = re.match(r'[^()]*\(\s*\*\s*(\w*)', head)
    if m:
        return m.group(1) != 'const'
    before = re.sub(r'(\[[^]]*\])+\s*$', '', head).strip()
    if re.fullmatch(r'(struct|union|enum)\b\s*\w*\s*(\{\})?', before):
        return False
    return 'const' not in before.rsplit('*', 1)[-1].split()


report = ctext.Report()
for path in ctext.files('lib'):
    if path in ALLOWED:
        continue
    for item in ctext.items(path, ctext.code(ctext.read(path))):
        if not item.body:
            if is_mutable(item.head):
                report.say(path, item.line, 'mutable global: make it const or '
                           'hang it off the runtime')
            continue
        for m in re.finditer(r'\bstatic\b([^;={]*)', item.body):
            if m.group(1).split() and is_mutable(m.group(1)):
                report.say(path, item.body_line +
                           item.body.count('\n', 0, m.start()),
                           'mutable static in a function: make it const or '
                           'hang it off the runtime')
report.end()
