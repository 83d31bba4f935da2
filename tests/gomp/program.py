#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Writes a program of OpenMP in C to standard output: regions with loops of any
schedule, step and chunk, blocks, and tasks with dependences, reductions and
events of their own, below each other.
Its lines depend on the seed and the sizes of teams, not on who runs what.
  program.py SEED
"""
import random
import sys

rng = random.Random(int(sys.argv[1]))
SCHEDULES = ['static', 'dynamic', 'guided', 'auto', 'runtime',
             'monotonic: dynamic', 'nonmonotonic: guided']
lines, depth, teams = [], 1, 0


def put(text):
    lines.append('\t' * depth + text)


def block(head, body):
    global depth
    put(head + ' {' if head else '{')
    depth += 1
    body()
    depth -= 1
    put('}')


def add(what):
    put('#pragma omp atomic')
    put(f'sum += {what};')


def schedule():
    kind = rng.choice(SCHEDULES)
    if kind in ('auto', 'runtime') or rng.random() < 0.4:
        return f'schedule({kind})'
    return f'schedule({kind}, {rng.choice([1, 2, 3, 7, 50, 1000])})'


def loop(pragma, extra=''):
    """A loop of up to some thousand iterations, up or down, of any type."""
    nr = rng.choice([0, 1, 2, 9, 100, 1500])
    step = rng.choice([1, 2, 3, 17])
    kind = rng.choice(['int', 'long', 'long long', 'unsigned',
                       'unsigned long long', 'short'])
    first = rng.randrange(0, 50)
    if rng.random() < 0.4:
        # The last step stays above zero, so no type wraps.
        begin, end = first + step + nr, first + step
        test, go = '>', f'-= {step}'
    else:
        begin, end, test, go = first, first + nr, '<', f'+= {step}'
    # Several teams at a time have no order between them.
    ordered = not extra and teams < 2 and rng.random() < 0.15 and \
        'taskloop' not in pragma and 'nonmonotonic' not in pragma
    put(f'#pragma omp {pragma} {"ordered" if ordered else ""} {extra}')
    head = f'for ({kind} i = {begin}; i {test} {end}; i {go})'

    def body():
        add(f'(unsigned long)i * {rng.randrange(1, 100)}')
        if ordered:
            put('#pragma omp ordered')
            put('hash = hash * 31 + (unsigned long)i;')
    block(head, body)


def tasks():
    def body():
        for _ in range(rng.randrange(1, 5)):
            kind = rng.randrange(7)
            n = rng.randrange(1, 1000)
            if kind == 0:
                put(f'for (int k = 0; k < {rng.choice([1, 30, 700])}; k++) {{')
                put('#pragma omp task firstprivate(k)')
                add(f'k * {n}')
                put('}')
            elif kind == 1 and teams < 2:
                put('#pragma omp task depend(inout: chain)')
                put(f'chain = chain * 3 + {n};')
            elif kind == 2:
                put('#pragma omp task')
                put(f'sum_of(&sum, {rng.randrange(1, 9)});')
            elif kind == 3:
                loop('taskloop' + rng.choice(['', ' grainsize(5)',
                                              ' num_tasks(7)', ' nogroup']))
            elif kind == 4:
                reduce_tasks(n)
            elif kind == 5:
                detached(n)
            else:
                put('#pragma omp taskwait')
    put('#pragma omp single')
    block('', body)


def reduce_tasks(n):
    """A group whose tasks, and theirs, add to copies of a variable."""
    def body():
        put('unsigned long group = 0;')
        if rng.random() < 0.3:
            put('#pragma omp taskloop reduction(+: group)')
            put(f'for (int k = 0; k < {rng.choice([0, 40])}; k++)')
            put(f'\tgroup += k * {n};')
        else:
            put('#pragma omp taskgroup task_reduction(+: group)')
            put(f'for (int k = 0; k < {rng.choice([1, 20, 300])}; k++) {{')
            put('#pragma omp task in_reduction(+: group) firstprivate(k)')
            block('', inner)
            put('}')
        add('group')

    def inner():
        put(f'group += k + {n};')
        if rng.random() < 0.5:
            put('#pragma omp task in_reduction(+: group)')
            put('group += k * 3;')
            put('#pragma omp taskwait')
    block('', body)


def detached(n):
    """A task that fulfills its own event: libgomp may run it at once."""
    def body():
        put('omp_event_handle_t event;')
        put('#pragma omp task detach(event)')
        block('', inner)

    def inner():
        add(n)
        put('omp_fulfill_event(event);')
    block('', body)


def shared_reduction():
    """A construct of all threads whose tasks reduce a variable."""
    kind = rng.choice(['for', 'sections', 'scope'])
    put(f'#pragma omp {kind} reduction(task, +: total)')
    if kind == 'for':
        put(f'for (int k = 0; k < {rng.choice([1, 9, 60])}; k++) {{')
    elif kind == 'sections':
        put('{')
        put('#pragma omp section')
        put('{')
    else:
        put('{')
    put('#pragma omp task in_reduction(+: total)')
    put(f'total += {rng.randrange(1, 50)};')
    put('total += 3;' if kind == 'for' else ';')
    put('}' if kind != 'sections' else '}}')


def doacross():
    """Iterations that wait for one some steps before; no unsigned type, of
    which gcc makes calls that end in libgomp by a fault."""
    back = rng.choice([1, 2, 5])
    kind = rng.choice(['static', 'dynamic', 'guided', 'runtime', 'static, 3',
                       'dynamic, 2', 'guided, 4'])
    put(f'#pragma omp for ordered(1) schedule({kind})')

    def body():
        put(f'#pragma omp ordered depend(sink: i - {back})')
        put(f'row[i] = row[i - {back}] * 3 + (unsigned long)i;')
        put('#pragma omp ordered depend(source)')
    block(f'for ({rng.choice(["int", "long"])} i = 5; '
          f'i < {rng.choice([5, 6, 50, 200])}; i++)', body)


def construct():
    kind = rng.randrange(12)
    nowait = rng.choice(['', 'nowait'])
    if kind < 4:
        loop(f'for {schedule()}', '' if rng.random() < 0.5 else nowait)
    elif kind == 4:
        put(f'#pragma omp single {nowait}')
        block('', lambda: add(rng.randrange(1000)))
    elif kind == 5:
        put(f'#pragma omp sections {nowait}')

        def sections():
            for _ in range(rng.randrange(1, 6)):
                put('#pragma omp section')
                block('', lambda: add(rng.randrange(1000)))
        block('', sections)
    elif kind == 6:
        put('#pragma omp critical')
        put('per_thread++;')
    elif kind == 7:
        tasks()
    elif kind == 8 and teams < 2:
        region()
    elif kind == 9 and teams < 2:
        shared_reduction()
    elif kind == 10 and teams < 2:
        doacross()
    else:
        put('#pragma omp barrier')


def region():
    global teams
    teams += 1
    put(f'#pragma omp parallel num_threads({rng.randrange(1, 5)})')
    block('', lambda: [construct() for _ in range(rng.randrange(1, 7))])
    teams -= 1


print('''/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <omp.h>
#include <stdio.h>

static unsigned long sum, hash, chain, per_thread, total;
static unsigned long row[200] = { 1, 2, 3, 4, 5 };

static void sum_of(unsigned long *to, int n)
{
	if (!n)
		return;
#pragma omp task
	sum_of(to, n - 1);
#pragma omp atomic
	*to += (unsigned long)n;
#pragma omp taskwait
}

int main(void)
{''')
put(f'omp_set_max_active_levels({rng.randrange(1, 4)});')
put(f'omp_set_schedule((omp_sched_t){rng.randrange(1, 5)}, '
    f'{rng.randrange(1, 9)});')
for _ in range(rng.randrange(1, 6)):
    if rng.random() < 0.3:
        loop(f'parallel for {schedule()} '
             f'num_threads({rng.randrange(1, 9)})')
    else:
        region()
    put('printf("%lu %lu %lu %lu %lu %lu\\n", sum, hash, chain, per_thread,')
    put('\ttotal, row[42]);')
put('return 0;')
print('\n'.join(lines))
print('}')
