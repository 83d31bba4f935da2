#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Writes a program of OpenMP in C to standard output: regions with loops of any
schedule, step and chunk, blocks, and tasks with dependences, below each other.
Its lines depend on the seed and the sizes of teams, not on who runs what.
  random.py SEED
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
            kind = rng.randrange(5)
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
            else:
                put('#pragma omp taskwait')
    put('#pragma omp single')
    block('', body)


def construct():
    kind = rng.randrange(10)
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

static unsigned long sum, hash, chain, per_thread;

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
    put('printf("%lu %lu %lu %lu\\n", sum, hash, chain, per_thread);')
put('return 0;')
print('\n'.join(lines))
print('}')
