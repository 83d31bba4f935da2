#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
planted.py NAME FILE: a recording of a program with a known problem, or of a
clean one. planted.py --list names them.
"""
import random
import sys

from causes import CAUSES
from looped import LOOPED
from recording import BLOCKING, COPIES, COPY, ENTER, KERNEL, LIMIT, MS, \
    NARROW, OPERATION, REMOTE, ROOM, RUN_BEGIN, STEAL, US, WAIT, WAITS, \
    Machine, Trace, fair_samples, samples



def remote():
    """Four nodes, all data on node 0: bodies elsewhere take 1.6 x."""
    trace, size = Trace(8), 4 << 20
    machine = Machine(trace, 8)
    used = [0] * 8
    for w in range(8):
        trace.place(w, w // 2)
    for i in range(800):
        w = i % 8
        near = w < 2
        _, end = machine.run('spmv', 1000 * US if near else 1600 * US, 0,
                             worker=w,
                             bytes=(size, 0) if near else (0, size))
        if not near:
            trace.event(w, end, REMOTE, trace.name('matrix'), size * 7 // 8)
            trace.event(w, end, REMOTE, trace.name('x'), size // 8)
        used[w] += size
    # Node 0 has its own work besides, so that all end together.
    for i in range(117):
        machine.run('local', 1000 * US, 0, worker=i % 2, bytes=(size, 0))
        used[i % 2] += size
    wall = max(machine.free)
    fair_samples(trace, machine, wall)
    for w in range(8):
        trace.bytes(w, wall, [used[w], 0, 0, 0])
    return trace


def convoy():
    """Four workers, one lock: bodies sleep half of their time."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for i in range(2000):
        machine.run('update' if i % 4 else 'parse',
                    (400 if i % 4 else 90) * US, 0)
    samples(trace, 4, max(machine.free), 0.48, 0.0)
    return trace


def lock():
    """As convoy, but the probe has seen where: 42 of 50 per cent asleep on one
    word, the rest elsewhere, and a tenth of the samples inside futex(2).
    """
    trace = convoy()
    wall = max(x[0] for w in range(4) for x in trace.lanes[w])
    end = wall // (10 * MS) * 10 * MS + 10 * MS
    trace.place_of(0x7f0040, '/nowhere/libdemo.so', 0x40)
    trace.place_of(0x9000, label='table', label_offset=64, size=4096)
    for i in range(1, 5):
        trace.place_of(0x7e0000 + i * 0x1100, '/nowhere/libdemo.so', i * 0x1100)
    trace.probe(0)
    for at in range(0, end + 1, 10 * MS):
        for w in range(4):
            trace.probed(w, at, blocks=at // MS, blocked=at // 2,
                         futexes=at // MS, futex=at // 100 * 42,
                         preempts=at // (5 * MS), preempted=at // 20, cpus=w,
                         samples=at // MS, futex_samples=at // (10 * MS))
        trace.word(at, 0x7f0040, 'update', at // MS * 3, at // 100 * 40 * 3,
                   at // (10 * MS), at // (20 * MS), (1, 3))
        trace.word(at, 0x7f0040, 'parse', at // MS, at // 100 * 26)
        trace.word(at, 0x9000, 'parse', at // MS // 2, at // 100 * 22)
        if at:
            trace.waker(at, 0x7f0040, 'update', 1002, 2, 'parse', at // MS * 3)
            trace.stack(at, 1, 'update', 30, (0x7e1100, 0x7e2200), 0x7f0040)
            trace.stack(at, 1, 'parse', 10, (0x7e1100, 0x7e3300), 0x7f0040)
            trace.stack(at, 2, 'update', 8, (0x7e4400,))
    return trace


def narrowed():
    """As lock, and the runtime has one worker run update from a fifth of the
    run on, but for a trial that it does not tell.
    """
    trace = lock()
    wall = max(x[0] for w in range(4) for x in trace.lanes[w])
    trace.event(0, wall // 5 - MS, NARROW, trace.name('update'),
                4 | 2 << 32 | 1 << 40)
    trace.event(1, wall // 5, NARROW, trace.name('update'),
                1 | 2 << 32 | 3 << 40)
    return trace


def passed():
    """As narrowed, but that two thirds of the bodies had no token."""
    trace = narrowed()
    trace.counters = {'narrow.bodies': 900, 'narrow.passed': 600}
    return trace


def taken():
    """Two workers that lose a quarter of their time to others: schedstat says
    half, as it also counts how late threads are when they are woken.
    """
    trace = Trace(2)
    machine = Machine(trace, 2)
    for _ in range(4000):
        machine.run('step', 150 * US, 0)
    wall = max(machine.free)
    samples(trace, 2, wall, 0.5, 0.5)
    trace.probe(0, 1)
    for at in range(0, wall + 10 * MS, 10 * MS):
        for w in range(2):
            if at:
                trace.preemptor(w, 4711 + w, 'backup' if at % 3 else 'cron')
            trace.probed(w, at, preempts=at // MS, preempted=at // 4)
    return trace


def gone():
    """The probe sees the first half only."""
    trace = taken()
    half = max(x[0] for x in trace.lanes[0]) // 2
    trace.rest = [x for i, x in enumerate(trace.rest)
                  if x[0] != 18 or i < len(trace.rest) * 3 // 4]
    trace.probe(half, 0)
    return trace


def critical():
    """Each phase of 60 short bodies ends in one long one."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    ready, by = 0, None
    for _ in range(20):
        ends = [machine.run('map', 300 * US, ready, by) for _ in range(60)]
        by, ready = max(ends, key=lambda x: x[1])
        by, ready = machine.run('reduce', 6 * MS, ready, by)
    fair_samples(trace, machine, max(machine.free))
    return trace


def quota():
    """Eight workers, a quota of two CPUs."""
    trace = Trace(8)
    machine = Machine(trace, 8)
    rng = random.Random(1)
    trace.fact('cpus', '8')
    trace.fact('quota.milli', '2000')
    for _ in range(4000):
        slow = rng.random() < 0.05
        machine.run('step', (4000 if slow else 150) * US, 0)
    samples(trace, 8, max(machine.free), 0.25, 0.74)
    return trace


def io():
    """Two reads under way at a time, each parsed when it has come."""
    trace = Trace(2)
    machine = Machine(trace, 2)
    ready, parsed = [0, 0], [None, None]
    for i in range(400):
        k = i % 2
        begin = ready[k]
        op = trace.span(k, OPERATION, begin, begin + 2 * MS, 'read', 65536,
                        by=parsed[k])
        trace.span(k, ENTER, begin, begin + 3 * US)
        parsed[k], ready[k] = machine.run('parse', 150 * US, begin + 2 * MS, op)
    fair_samples(trace, machine, max(machine.free))
    return trace


def limit():
    """One token, and four workers that could each take one."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    ready, by = 0, None
    for i in range(100):
        if i:
            trace.span(0, LIMIT, 0, ready, 'limit "disk" of 1 token',
                       trace.name('store'), by=by)
        by, ready = machine.run('store', 1 * MS, ready, by)
    fair_samples(trace, machine, max(machine.free))
    return trace


def idle_sleepers():
    """Bodies that sleep beside a chain that is as long as the run: they limit
    nothing."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    by, ready = None, 0
    for _ in range(100):
        by, ready = machine.run('long', 1 * MS, ready, by, worker=0)
    for w in range(1, 4):
        for i in range(90):
            machine.run('napper', 1 * MS, 0, worker=w)
    for at in range(0, ready + 10 * MS, 10 * MS):
        trace.thread(0, at, at, 0)
        for w in range(1, 4):
            trace.thread(w, at, at // 2, 0)
    return trace


def clean():
    """Even bodies, as many as there is time for."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for i in range(4000):
        machine.run('work', 200 * US + i % 7 * US, 0)
    fair_samples(trace, machine, max(machine.free))
    return trace


def pipeline():
    """Three stages on two nodes, bytes near, balanced."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for w in range(4):
        trace.place(w, w // 2)
    for i in range(1500):
        w = i % 4
        by, end = machine.run('load', 80 * US, 0, worker=w, bytes=(65536, 0))
        by, end = machine.run('turn', 120 * US, end, by, 200, w,
                              bytes=(65536, 0))
        machine.run('store', 60 * US, end, by, 200, w, bytes=(65536, 0))
    wall = max(machine.free)
    fair_samples(trace, machine, wall)
    for w in range(4):
        trace.bytes(w, wall, [1500 * 3 * 16384 * (w // 2 == n)
                              for n in range(2)])
    return trace


def unknown(known=192):
    """A short run on two nodes: of hardly a byte is known where it lies, and
    the only sums were taken when the recording ended, after the last body.
    """
    trace = Trace(2)
    machine = Machine(trace, 2)
    for w in range(2):
        trace.place(w, w)
    for i in range(40):
        machine.run('tile', 50 * US, 0, worker=i % 2, bytes=(65536, 0))
    end = max(machine.free)
    for w in range(2):
        trace.bytes(w, end + 300 * US, [known, 0], 20 * 65536 - known)
    return trace


def made_up():
    """As unknown, on a topology of a text."""
    trace = unknown()
    trace.fact('synthetic', '1')
    return trace


def partly():
    """As unknown, but a quarter is known."""
    return unknown(5 * 65536)


def growing():
    """Two nodes; sums after 10 ms, and at the end, 15 ms later."""
    trace = Trace(2)
    machine = Machine(trace, 2)
    for w in range(2):
        trace.place(w, w)
    for i in range(40):
        machine.run('tile', 1 * MS, 0, worker=i % 2,
                    bytes=(65536, 0) if i % 2 else (0, 65536))
    for at, nr in (10 * MS, 10), (25 * MS, 20):
        for w in range(2):
            trace.bytes(w, at, [0, nr * 65536])
    return trace


def wild():
    """As unknown, with a worker on a node that no machine has."""
    trace = unknown(20 * 65536)
    trace.place(1, 1004847)
    return trace


def two():
    """Bodies that sleep a third of the time; then a tail on one worker."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for _ in range(2000):
        by, ready = machine.run('update', 400 * US, 0)
    machine.run('tail', 30 * MS, ready, by)
    wall = max(machine.free)
    full = sorted(machine.free)[2]
    for at in range(0, wall + 10 * MS, 10 * MS):
        for w in range(4):
            busy = min(at, full) if machine.free[w] < wall else at
            trace.thread(w, at, int(min(busy, full) * 0.65) +
                         max(0, busy - full), 0)
    return trace


def old():
    """As recordings were before they said why."""
    trace = Trace(2, facts=False)
    machine = Machine(trace, 2)
    for i in range(40):
        machine.run('step', 100 * US, i % 2 * 500 * US + i * 200 * US)
    return trace


def small():
    """A little of everything: what golden files are made of."""
    trace = Trace(4)
    machine = Machine(trace, 2)
    trace.place(0, 0)
    trace.place(1, 1)
    trace.place(2, -1, -1, BLOCKING)
    trace.place(3, -1, -1, BLOCKING)
    trace.fact('program', 'small --size 4')
    ready, by = 10 * US, None
    for phase in range(4):
        ends = [machine.run('load', (40 + 5 * i) * US, ready, by,
                            bytes=(4096 * i, 8192)) for i in range(6)]
        by, ready = max(ends, key=lambda x: x[1])
        op = trace.span(0, OPERATION, ready, ready + 100 * US, 'write', 4096,
                        by=by)
        trace.span(0, ENTER, ready, ready + 4 * US)
        block = 2 + phase % 2
        by = trace.slice(block, 'sync', ready + 100 * US, ready + 160 * US,
                         ready=ready + 100 * US, by=op)
        ready += 160 * US
        trace.span(4, WAIT, ready - 200 * US, ready, by=by)
        by, ready = None, ready + 5 * US
    trace.event(1, 90 * US, STEAL, 0, 1)
    ask, left = machine.run('ask', 10 * US, ready)
    go, ready = machine.run('ask', 20 * US, left + 30 * US)
    trace.away(ask, left, go, ready - 20 * US, 'values of channel "c"')
    queue = trace.device(0, 'gpu0 queue')
    trace.span(queue, KERNEL, 100 * US, 180 * US, 'scale')
    for w in range(2):
        trace.bytes(w, ready, [1 << 20, 2 << 20])
        for at in range(0, ready + 100 * US, 100 * US):
            trace.thread(w, at, int(at * 0.7), int(at * 0.1))
    trace.probe(0)
    trace.place_of(0x7f0040, '/nowhere/libdemo.so', 0x40)
    trace.place_of(0x9000, label='table', label_offset=64, size=4096)
    trace.place_of(0xa000, mapping='[stack]', mapping_offset=8)
    for w in range(2):
        for at in range(0, ready + 500 * US, 500 * US):
            trace.probed(w, at, at // US % 5, at // 50, 0x7f0040,
                         preempts=at // (90 * US), preempted=at // 12,
                         blocks=at // (60 * US), blocked=at // 5,
                         futexes=at // (70 * US), futex=at // 9, cpus=w,
                         nodes=w, samples=at // (10 * US),
                         futex_samples=at // (100 * US), pages=3)
    trace.word(ready // 2, 0x7f0040, 'load', 3, 40 * US, 2, 1, (1, 2))
    trace.word(ready, 0x7f0040, 'load', 5, 80 * US, 3, 1, (1, 3))
    trace.word(ready, 0x7f0040, 'sync', 1, 9 * US)
    trace.word(ready, 0x9000, 'load', 1, 4 * US, 1, 1)
    trace.word(ready, 0xa000, '', 1, 2 * US)
    trace.word(ready, 0xb000, 'load', 1, 1 * US)
    trace.place_of(0x7e1100, '/nowhere/libdemo.so', 0x1100)
    trace.stack(ready, 1, 'load', 4, (0x7e1100, 0x7e2200), 0x7f0040)
    trace.stack(ready, 2, 'load', 9, (0x7e1100,))
    trace.waker(ready, 0x7f0040, 'load', 1001, 1, 'load', 5)
    trace.lost = 2
    return trace


def graph():
    """A sealed graph, run twice: who made whom ready is in its edges."""
    trace = Trace(2)
    trace.graph(7, [3], [('a', [1, 2]), ('b', [3]), ('c', [3]), ('d', [])])
    trace.edges(7, [(0, 1, 'port 0 of a', 256), (0, 2, 'tile', 1),
                    (2, 3, 'sum', 3)])
    for run in range(2):
        at = run * 100 * US
        trace.event(2, at, RUN_BEGIN, 3, run)
        for w, task, kind, b, e in ((0, 0, 'a', 1, 11), (0, 1, 'b', 12, 22),
                                    (1, 2, 'c', 13, 53), (1, 3, 'd', 54, 64)):
            trace.slice(w, kind, at + b * US, at + e * US, task=task,
                        frame=3, run=run)
    return trace


def joins():
    """A body that waits for its children runs them within."""
    trace = Trace(2)
    root = trace.slice(0, 'fib', 0, 900 * US, ready=0)
    for i in range(8):
        trace.slice(i % 2, 'fib', (10 + i * 100) * US, (100 + i * 100) * US,
                    ready=5 * US, by=root)
    return trace


def device():
    """Two workers that wait for a device: 60 ms of kernels in two queues, 30
    of copies of which 10 lie beside kernels, and one kernel waits for memory.
    """
    trace = Trace(2)
    up = trace.device(0, 'd0 gpu upload', COPIES)
    down = trace.device(1, 'd0 gpu fetch', COPIES)
    queue = [trace.device(2 + i, 'd0 gpu queue %d' % i) for i in range(2)]
    wait = trace.device(63, 'd0 gpu memory', WAITS)
    trace.fact('device.0', 'gpu, a card')
    start = trace.slice(0, 'start', 0, 1 * MS, ready=0)
    trace.span(up, COPY, 1 * MS, 21 * MS, 'upload', 1 << 20)
    a = trace.span(queue[0], KERNEL, 21 * MS, 61 * MS, 'gemm', -1,
                   ready=1 * MS, by=start)
    trace.span(queue[1], KERNEL, 41 * MS, 81 * MS, 'gemm', -1, ready=1 * MS,
               by=start)
    trace.span(wait, ROOM, 1 * MS, 41 * MS, 'gemm', 1 << 30)
    trace.span(down, COPY, 71 * MS, 81 * MS, 'fetch', 1 << 19)
    trace.slice(0, 'end', 99 * MS, 100 * MS, ready=99 * MS, by=a)
    return trace


def hostile():
    """Names that would run if the page took them for markup."""
    trace = Trace(1)
    names = ['<img src=x onerror=alert(1)>', '</script><script>alert(2)'
             '</script>', '"onmouseover="alert(3)', "';alert(4);//",
             '&lt;b&gt;', '<!--', ']]>', '\u202egnorw', 'a' * 255,
             b'\xff\xfe', '@DATA@ @CSP@ %s%n', '\x1b[31mred']
    for i, name in enumerate(names):
        trace.slice(0, name, i * 10 * US, (i * 10 + 9) * US, ready=0)
    trace.fact('program', '<svg onload=alert(5)>')
    return trace


PLANTED = {f.__name__: f for f in (
    remote, convoy, lock, narrowed, passed, taken, gone, critical, quota, io, limit,
    idle_sleepers, clean, pipeline, unknown, made_up, partly, growing, wild, two, old, small, graph,
    joins, device, hostile)}
PLANTED.update(CAUSES)
PLANTED.update(LOOPED)

if __name__ == '__main__':
    if sys.argv[1:] == ['--list']:
        print('\n'.join(PLANTED))
    else:
        PLANTED[sys.argv[1]]().write(sys.argv[2])
