# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Programs in which one call, mode or number costs most, each with its fix where
there is one: recordings of planted.py.
"""
from recording import BLOCKING, FULL, IS_MEMBER, KERNEL, MARK, MS, REGION, RUN_BEGIN, \
    US, WAIT, Machine, Trace, fair_samples

READ, WRITE = 1, 2


def rounds(dear_first):
    """60 rounds of 32 tasks and a dear one; the program waits for each."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    at = 0
    for _ in range(60):
        ends = []
        for i in range(33):
            is_dear = i == (0 if dear_first else 32)
            ready = at + i * US
            ends.append(machine.run('dear' if is_dear else 'cheap',
                                    3 * MS if is_dear else 370 * US, ready))
        by, end = max(ends, key=lambda x: x[1])
        trace.span(4, WAIT, at + 33 * US, end, by=by)
        at = end + 5 * US
    fair_samples(trace, machine, max(machine.free))
    return trace


def last():
    """The dear task of each round is submitted last."""
    return rounds(False)


def last_fixed():
    return rounds(True)


def submit(every=250, length=300, cpu=0.98, nr=400):
    """A thread that computes between its calls, and waits for nothing."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for i in range(nr):
        machine.run('count', length * US, i * every * US)
    wall = max(machine.free)
    fair_samples(trace, machine, wall)
    for at in range(0, wall, wall // 8):
        trace.outside('main', at, int(at * cpu))
        trace.outside('lkdf/drain', at, at)
    return trace


def submit_sleeps():
    """The same thread sleeps between its calls."""
    return submit(cpu=0.05)


def submit_calls():
    """A thread that only submits, tasks that are short."""
    return submit(3, 4, nr=1000)


def arena():
    """Four workers at one arena of malloc(), as the probe sees it."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for _ in range(2000):
        machine.run('parse', 400 * US, 0)
    wall = max(machine.free) // (10 * MS) * 10 * MS + 10 * MS
    trace.place_of(0x7f0040, '/nowhere/libc.so.6', 0x1d3c80)
    trace.probe(0)
    for at in range(0, wall + 1, 10 * MS):
        for w in range(4):
            trace.thread(w, at, at // 2, 0)
            trace.probed(w, at, blocks=at // MS, blocked=at // 2,
                         futexes=at // MS, futex=at // 2)
        trace.word(at, 0x7f0040, 'parse', at // MS * 4, at // 2 * 4)
    return trace


def lookups(mode):
    """2,500 tasks that use one table, one after another or as they like."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    edge = (trace.name('config'), mode)
    by, ready = machine.run('write', 50 * US, 0)
    for i in range(2500):
        if mode == READ:
            machine.run('lookup', 100 * US, ready, by, edge=edge)
        else:
            by, ready = machine.run('lookup', 100 * US, ready, by, edge=edge)
    fair_samples(trace, machine, max(machine.free))
    return trace


def order():
    return lookups(READ | WRITE)


def order_fixed():
    return lookups(READ)


def filled(system, faults, mixed=False):
    """Bodies that get their memory from the kernel each time, or keep it."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for i in range(2000):
        machine.run('fill', 400 * US, 0)
        if mixed:
            machine.run('plain', 100 * US, 0)
    wall = max(machine.free)
    for at in range(0, wall + 10 * MS, 10 * MS):
        for w in range(4):
            trace.thread(w, at, at, 0, int(at * system),
                         at // (400 * US) * faults)
    return trace


def mapped():
    """9 of 10 us are the kernel's: 256 page faults a body."""
    return filled(0.9, 256)


def mapped_mixed():
    """The same with another kind in between: samples do not tell which."""
    return filled(0.9, 256, True)


def mapped_fixed():
    return filled(0.01, 0)


def windowed(fits):
    """A window for so many tasks, and a thread that waits for its room."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    ends, at = [], 0
    for i in range(400):
        if i >= fits:
            by, end = ends[i - fits]
            if end > at:
                trace.span(4, FULL, at, end,
                           'room in scope "stage" of %d task%s' %
                           (fits, '' if fits == 1 else 's'), fits, by=by)
                at = end
        ends.append(machine.run('stage', 400 * US, at))
        at += 2 * US
    fair_samples(trace, machine, max(machine.free))
    return trace


def window():
    return windowed(1)


def window_fixed():
    return windowed(8)


def service(late=300, tasks=1):
    """A request each 10 ms, 400 us of work: nothing to gain."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for i in range(200):
        by, ready = None, i * 10 * MS
        for _ in range(tasks):
            by, ready = machine.run('answer', 400 * US // tasks, ready, by,
                                    late=late)
    fair_samples(trace, machine, max(machine.free))
    return trace


def service_noisy():
    """The same beside other programs: each worker is woken after 500 us."""
    return service(500 * US)


def service_runs():
    """A request is a run of a graph: a chain of eight tasks."""
    return service(20 * US, 8)


def service_late():
    """Tasks begin 3 ms after they are ready, though workers are idle."""
    return service(3 * MS)


def pooled():
    """Workers wake late; a kind of the blocking pool waits far longer there."""
    trace = Trace(4)
    machine = Machine(trace, 2)
    for lane in (2, 3):
        trace.place(lane, -1, -1, BLOCKING)
    for i in range(400):
        machine.run('step', 300 * US, i * 250 * US, late=100 * US)
    for i in range(80):
        at = 20 * MS + i // 2 * 2 * MS
        trace.slice(2 + i % 2, 'log', at, at + 2 * MS, ready=at - 20 * MS)
    fair_samples(trace, machine, max(machine.free))
    return trace


def requests():
    """1,000 requests of three tasks; one of a hundred is slow. The program
    has a region around each of the first ten, and marks their sizes."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    for i in range(1000):
        at, slow = i * 4 * MS, i % 100 == 50
        by, end = machine.run('parse', 50 * US, at)
        by, end = machine.run('find', (3000 if slow else 100) * US, end, by)
        by, end = machine.run('answer', 50 * US, end, by)
        if i < 10:
            trace.span(4, REGION, at, at + (i + 1) * MS, 'batch')
            trace.span(4, MARK, at, at, 'bytes', i * 1000)
    fair_samples(trace, machine, max(machine.free))
    return trace


def sealed(nr=500, reason=('config', 3), reasons=499):
    """A sealed graph of tasks one after another, run once. The first edges of
    the graph say why; bodies do not."""
    trace = Trace(4)
    machine = Machine(trace, 4)
    end = 0
    trace.graph(1, [0], [('lookup', [i + 1] if i + 1 < nr else [])
                         for i in range(nr)])
    trace.edges(1, [(i, i + 1) + reason for i in range(reasons)])
    trace.event(4, 0, RUN_BEGIN, 0, 0)
    for i in range(nr):
        begin = max(end + 300, machine.free[i % 4] + 200)
        machine.idle(i % 4, begin)
        end = begin + 200 * US
        trace.slice(i % 4, 'lookup', begin, end, task=i, frame=0, run=0)
        machine.free[i % 4] = machine.last[i % 4] = end
    fair_samples(trace, machine, end)
    return trace


def sealed_port():
    """As sealed, of a value that each hands to the next."""
    return sealed(reason=('port 0 of lookup', 256))


def sealed_partly():
    """As sealed, a third of it for one data, the rest in order alone."""
    return sealed(300, reasons=100)


def again():
    """A hundred requests that wait at a channel: a thread of the program sends
    what most of them wait for, a body of another request does for one in ten.
    """
    trace = Trace(2)
    machine = Machine(trace, 2)
    for i in range(100):
        at = i * 20 * MS
        ask, left = machine.run('ask', 100 * US, at, worker=0)
        by, ready = None, at + 9 * MS
        if i % 10 == 0:
            by, ready = machine.run('tell', 50 * US, at + 8 * MS, worker=1)
        go, end = machine.run('ask', 200 * US, ready, by, worker=0)
        trace.away(ask, left, go, end - 200 * US, 'values of channel "replies"')
        machine.run('log', 100 * US, end, go, worker=1)
    fair_samples(trace, machine, max(machine.free))
    return trace


def regions(length=3 * US, late=6 * US, several=2000):
    """Regions of OpenMP on two workers; the second begins late."""
    trace = Trace(2)
    machine = Machine(trace, 2, pause=0)
    trace.kind('step, region 1', IS_MEMBER)
    at = 0
    for _ in range(several):
        ends = [machine.run('step, region 1', length, at, late=x, worker=w)[1]
                for w, x in ((0, 100), (1, late))]
        at = max(ends) + 500
    fair_samples(trace, machine, max(machine.free))
    return trace


def regions_fixed():
    """One region with the work of all."""
    return regions(6 * MS, 6 * US, 10)


def regions_uneven():
    """A thread of each region has twice the work of the other."""
    trace = Trace(2)
    machine = Machine(trace, 2, pause=0)
    trace.kind('step, region 1', IS_MEMBER)
    at = 0
    for _ in range(50):
        ends = [machine.run('step, region 1', length, at, worker=w)[1]
                for w, length in ((0, MS), (1, 2 * MS))]
        at = max(ends) + 500
    fair_samples(trace, machine, max(machine.free))
    return trace


def regions_serial(tasks=0):
    """Even regions of 1 ms, 1.5 ms of the program alone between two of them, in
    which there may be tasks."""
    trace = Trace(2)
    machine = Machine(trace, 2, pause=0)
    trace.kind('step, region 1', IS_MEMBER)
    at = 0
    for _ in range(40):
        ends = [machine.run('step, region 1', MS, at, late=100, worker=w)[1]
                for w in (0, 1)]
        at = max(ends) + 1500 * US
        for i in range(tasks):
            machine.run('task', 500 * US, ends[0] + i * 500 * US, worker=1)
    fair_samples(trace, machine, max(machine.free))
    return trace


def regions_busy():
    """The same with tasks: the program is not alone."""
    return regions_serial(3)


def chained_device():
    """One chain on one worker, and a device that has work for a third of it."""
    trace = Trace(2)
    queue = trace.device(0, 'd0 gpu queue 0')
    ready, by = 0, None
    for i in range(100):
        begin = i * MS
        by = trace.slice(0, 'step', begin, begin + 1 * MS, ready=ready, by=by)
        ready = begin + 1 * MS
        if i % 3 == 0:
            trace.span(queue, KERNEL, begin, begin + 1 * MS, 'gemm', -1,
                       ready=begin, by=by)
    return trace


def blocking():
    """All bodies have LKDF_BLOCKING and run in two threads of the pool."""
    trace = Trace(4)
    for lane in (2, 3):
        trace.place(lane, -1, -1, BLOCKING)
    for i in range(100):
        at = i // 2 * 2 * MS
        trace.slice(2 + i % 2, 'fetch', at, at + 2 * MS, ready=at)
    fair_samples(trace, Machine(trace, 2), 100 * MS)
    return trace


def blocking_phases():
    """The pool runs bodies for a tenth of it; a chain of workers is the rest."""
    trace = blocking()
    for lane in (2, 3):
        trace.lanes[lane] = trace.lanes[lane][:5]
    # Its samples are of workers that do nothing.
    trace.rest = [x for x in trace.rest if x[0] != 14]
    ready, by = 10 * MS, None
    for i in range(90):
        by = trace.slice(0, 'step', ready, ready + MS, ready=ready, by=by)
        ready += MS
    return trace


def observed(names=('lkdf/drain', 'lkdf/drain', 'backup')):
    """Two workers lose a quarter of their time; who took the CPU is looked at
    by a thread that had just taken one itself."""
    trace = Trace(2)
    machine = Machine(trace, 2)
    for _ in range(1000):
        machine.run('step', 150 * US, 0)
    wall = max(machine.free)
    fair_samples(trace, machine, wall)
    trace.probe(0, 1)
    for at in range(0, wall + 10 * MS, 10 * MS):
        for w in range(2):
            if at:
                trace.preemptor(w, 4711, names[at // (10 * MS) % len(names)])
            trace.probed(w, at, preempts=at // MS, preempted=at // 4)
    return trace


def observed_only():
    """Nobody but that thread was seen."""
    return observed(('lkdf/drain',))


def locked():
    """Bodies sleep on a word, and spend CPU time inside futex(2) besides: half
    of their time is the kernel's, nearly all of it there."""
    trace = arena()
    wall = max(x[0] for w in range(4) for x in trace.lanes[w])
    trace.rest = [x for x in trace.rest if x[0] not in (14, 18)]
    trace.probe(0)
    for at in range(0, wall // (10 * MS) * 10 * MS + 11 * MS, 10 * MS):
        for w in range(4):
            trace.thread(w, at, at * 6 // 10, 0, int(at * 0.55))
            trace.probed(w, at, blocks=at // MS, blocked=at // 10 * 4,
                         futexes=at // MS, futex=at // 10 * 4,
                         samples=at // MS, futex_samples=at // 10 * 9 // MS)
        trace.word(at, 0x7f0040, 'parse', at // MS * 4, at // 10 * 4 * 4,
                   at // MS, at // MS)
    return trace


CAUSES = {f.__name__: f for f in (
    last, last_fixed, submit, submit_sleeps,
    submit_calls, arena, order, order_fixed, mapped, mapped_mixed,
    mapped_fixed, window, window_fixed, service, pooled, requests,
    again, sealed, sealed_port, sealed_partly,
    regions, regions_fixed, regions_uneven, regions_serial, regions_busy,
    chained_device, blocking, blocking_phases, observed, observed_only,
    locked, service_noisy, service_runs, service_late)}
