# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Loops of two threads, a worker and the thread of the program that calls, beside
a second worker, on whose CPU that thread is: recordings of planted.py.
"""
from recording import BLOCKS, IS_LOOP, MS, THREAD, US, WAIT, Machine, \
    Trace, fair_samples


def loops(runs, before=0, worst=0, name='smooth', nr=10):
    """runs loops of nr blocks of 1 ms for each thread, and so long before each
    in which the program computes; worst: how much longer the last block is."""
    trace = Trace(2)
    machine = Machine(trace, 2)
    trace.kind(name, IS_LOOP)
    caller = trace.device(4096, 'main, thread 999', THREAD, 999)
    at = 0
    for _ in range(runs):
        at += before
        end = at
        for i in range(nr):
            trace.span(caller, BLOCKS, end, end + MS, name, ready=at)
            end += MS
            more = worst if i == nr - 1 else 0
            machine.run(name, MS + more, at, late=0, worker=0)
        at = max(machine.free) + 5 * US
    fair_samples(trace, machine, at)
    trace.outside('main', 0, 0)
    trace.outside('main', at, at)
    return trace


def loops_even():
    """Nothing is wrong."""
    return loops(20)


def loops_uneven():
    """The last block of each loop is long."""
    return loops(20, worst=8 * MS)


def loops_serial():
    """The thread computes alone between its loops."""
    return loops(20, before=15 * MS)


def first_is_first():
    """Each round has a chain of eight bodies that begins first, and a few others
    beside it; the program waits for all. Nothing could go earlier."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    at = 0
    for _ in range(20):
        by, end = machine.run('link', 900 * US, at)
        for i in range(12):
            machine.run('short', 150 * US, at + (i + 1) * US)
        for _ in range(7):
            by, end = machine.run('link', 900 * US, end, by)
        trace.span(4, WAIT, at + 20 * US, end, 'lkdf_scope_wait', by=by)
        at = end + 5 * US
    fair_samples(trace, machine, max(machine.free))
    return trace


LOOPED = {f.__name__: f for f in (
    loops_even, loops_uneven, loops_serial, first_is_first)}
