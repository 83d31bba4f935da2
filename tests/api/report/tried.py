#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
tried.py NAME FILE [BODIES]: what lkdf try records, of a kind that is as fast together as
alone, and of one that is not, for several reasons. BODIES gets thread and time of
a hundred bodies of that kind, for tests/tools/pmu_fake.c.
"""
import sys

from recording import IS_LOOP, MS, START, US, Machine, Trace, samples


def counters(workers, length, cpu=1.0, queued=0.0):
    """Bodies of a kind that takes so long, and of one that does not."""
    trace = Trace(workers)
    machine = Machine(trace, workers)
    for _ in range(400):
        machine.run('count', length * US, 0)
        machine.run('other', 100 * US, 0)
    samples(trace, workers, max(machine.free), cpu, queued, MS)
    return trace


def alone():
    """One worker, as lkdf try runs it first."""
    return counters(1, 20)


def together_memory():
    """On a CPU all the time, and thirty times as long."""
    return counters(4, 600)


def together_clean():
    return counters(4, 20)


def together_asleep():
    """A lock: bodies sleep two thirds of their time."""
    return counters(4, 600, 0.33)


def together_crowded():
    """Four workers on two CPUs."""
    trace = counters(4, 600, 0.5, 0.5)
    trace.fact('cpus', '2')
    return trace


def loops(workers, pieces, total):
    """A loop that is cut into so many pieces, of so long in all."""
    trace = Trace(workers)
    machine = Machine(trace, workers)
    trace.kind('for', IS_LOOP)
    for _ in range(pieces):
        machine.run('for', total // pieces, 0)
    samples(trace, workers, max(machine.free), 1.0, 0.0, MS)
    return trace


def alone_loop():
    """A thousand pieces on one worker."""
    return loops(1, 1000, 352 * MS)


def together_loop():
    """The same work in 80 pieces: each is longer, all of them are not."""
    return loops(4, 80, 352 * MS)


def together_slow_loop():
    """Bodies meet: ten times the work's time, in pieces as short as alone."""
    return loops(4, 10000, 3520 * MS)


def together_more():
    """Twice the bodies, each twice as long: another amount of work."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for _ in range(800):
        machine.run('count', 40 * US, 0)
        machine.run('other', 100 * US, 0)
    samples(trace, 4, max(machine.free), 1.0, 0.0, MS)
    return trace


TRIED = {f.__name__: f for f in (
    alone, together_memory, together_clean, together_asleep,
    together_crowded, alone_loop, together_loop, together_slow_loop,
    together_more)}


def write_bodies(trace, path):
    """A time within each, of CLOCK_MONOTONIC."""
    bodies = [(e, x[1]) for e, found in sorted(trace.lanes.items())
              for x in found if x[2] == trace.names['count']]
    with open(path, 'w', encoding='utf-8') as f:
        for e, begin in bodies[:100]:
            f.write('%d %d\n' % (1000 + e, START + begin + 10))


if __name__ == '__main__':
    made = TRIED[sys.argv[1]]()
    made.write(sys.argv[2])
    if len(sys.argv) > 3:
        write_bodies(made, sys.argv[3])
