# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Writes recordings as the library would, with a clock that a program sets: what
is recorded is known to the nanosecond. One tick is one nanosecond.
"""
import struct
import zlib

IS_MEMBER, IS_LOOP = 64, 128  # flags of kinds
EVENTS = [('steal', 'victim', 'why'), ('park', '', ''), ('unpark', '', ''),
          ('wake', '', ''), ('run_begin', 'frame', 'run'),
          ('run_end', 'frame', 'errno'), ('remote', 'data', 'bytes'),
          ('narrow', 'kind', 'verdict')]
STEAL, PARK, UNPARK, WAKE, RUN_BEGIN, RUN_END, REMOTE, NARROW = \
    range(len(EVENTS))
OPERATION, ENTER, WAIT, KERNEL, COPY, LIMIT, ROOM, FULL, REGION, MARK, AWAY, \
    BLOCKS = range(1, 13)
QUEUE, COPIES, WAITS, THREAD = range(1, 5)
WORKER, BLOCKING, OUTSIDE = range(3)
START = 1000000
MS, US = 1000000, 1000
COUNTS = ('preempts', 'preempted', 'blocks', 'blocked', 'futexes', 'futex',
          'cpus', 'nodes', 'samples', 'futex_samples', 'own_samples', 'pages')


def u(v):
    v &= 2 ** 64 - 1
    out = bytearray()
    while v >= 128:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


def s(v):
    return u(2 * v if v >= 0 else -2 * v - 1)


def t(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return u(len(raw)) + raw


class Trace:
    """Executors are workers unless told; times count from the start."""

    def __init__(self, executors, facts=True):
        self.nr, self.facts = executors, facts
        self.names, self.lanes, self.events = {}, {}, {}
        self.spans, self.rest, self.clock = {}, [], []
        self.executors = [(WORKER, i, 0) for i in range(executors)]
        self.lost, self.numbers, self.counted = 0, {}, {}
        self.graphs, self.counters = [], {}

    def place(self, executor, node, cpu=None, kind=WORKER):
        cpu = executor if cpu is None else cpu
        self.executors[executor] = (kind, cpu, node)

    def name(self, text):
        return self.names.setdefault(text, len(self.names) + 1)

    def number(self, executor):
        n = self.numbers[executor] = self.numbers.get(executor, 0) + 1
        return n

    def slice(self, executor, kind, begin, end, **links):
        """Bodies of an executor come in the order in which they began."""
        uid = (executor, self.number(executor))
        self.lanes.setdefault(executor, []).append(
            (end, begin, self.name(kind), uid[1], links))
        return uid

    def span(self, lane, sort, begin, end, kind='', value=0, **links):
        number = self.number(lane) if sort not in (WAIT, ENTER, LIMIT, FULL, REGION,
                                             MARK) else 0
        name = self.name(kind) if kind else 0
        self.spans.setdefault(lane, []).append(
            (end, begin, sort, name, value, number, links))
        return (lane, number)

    def away(self, before, left, after, again, what=''):
        """From that body, which ended then, to that one, which began then."""
        self.spans.setdefault(after[0], []).append(
            (again, left, AWAY, self.name(what) if what else 0, 0, after[1],
             {'by': before}))

    def event(self, executor, at, event, a=0, b=0):
        self.events.setdefault(executor, []).append((at, event, a, b))

    def park(self, executor, begin, end):
        self.event(executor, begin, PARK)
        self.event(executor, end, UNPARK)

    def thread(self, executor, at, cpu, queued, system=None, faults=0):
        """system: in steps of 10 ms, as the kernel tells it; None: old."""
        kernel = b'' if system is None else \
            u(system // 10000000 * 10000000) + u(faults)
        self.rest.append((14, u(executor) + u(1000 + executor) +
                          u(START + at) + u(cpu) + u(queued) + u(1) +
                          t('lkdf/%d' % executor) + kernel))

    def outside(self, name, at, cpu):
        """A sample of a thread of the program."""
        self.rest.append((14, u(self.nr) + u(999) + u(START + at) + u(cpu) +
                          u(0) + u(1) + t(name)))

    def probe(self, at, sees=3, hz=1000):
        self.rest.append((18, u(1) + u(START + at) + u(sees) + u(hz)))

    def probed(self, executor, at, state=1, state_ns=0, word=0, **counts):
        """counts: names of COUNTS, sums from the start."""
        self.rest.append((18, u(2) + u(executor) + u(START + at) + u(state) +
                          u(state_ns) + u(word) +
                          b''.join(u(counts.pop(x, 0)) for x in COUNTS)))
        assert not counts

    def preemptor(self, executor, tid, name):
        self.rest.append((18, u(5) + u(executor) + u(tid) + t(name)))

    def word(self, at, address, kind, sleeps, slept, samples=0, waits=0,
             nodes=(1, 1)):
        self.rest.append((18, u(3) + u(START + at) + u(address) +
                          u(self.name(kind) if kind else 0) + u(sleeps) +
                          u(slept) + u(samples) + u(waits) + u(nodes[0]) +
                          u(nodes[1])))

    def stack(self, at, sort, kind, count, callers, word=0):
        """callers: addresses, the innermost first; count: since the last."""
        out, before = b'', 0
        for a in callers:
            out += s(a - before)
            before = a
        self.rest.append((18, u(6) + u(START + at) + u(sort) +
                          u(self.name(kind)) + u(word) + u(count) +
                          u(len(callers)) + out))

    def waker(self, at, address, kind, tid, executor, by, wakes):
        self.rest.append((18, u(7) + u(START + at) + u(address) +
                          u(self.name(kind)) + u(tid) + u(executor + 1) +
                          u(self.name(by) if by else 0) + u(wakes)))

    def place_of(self, address, file='', offset=0, mapping='',
                 mapping_offset=0, label='', label_offset=0, size=0):
        self.rest.append((18, u(4) + u(address) + t(file) + u(offset) +
                          t('c0de' if file else '') + t(mapping) +
                          u(mapping_offset) + t(label) + u(label_offset) +
                          u(size)))

    def bytes(self, executor, at, by_node, unknown=0):
        self.rest.append((15, u(executor) + u(START + at) + u(unknown) +
                          b''.join(map(u, by_node))))

    def fact(self, key, value):
        self.rest.append((16, t(key) + t(value)))

    def kind(self, name, flags):
        self.graphs.append((11, u(self.name(name)) + u(flags) + u(0) + u(1) +
                            u(0)))

    def device(self, lane, label, sort=QUEUE, device=0):
        self.graphs.append((17, u(self.nr + 1 + lane) + u(sort) + u(device) +
                            t(label)))
        return self.nr + 1 + lane

    def graph(self, number, frames, tasks):
        """tasks: list of (kind, successors)."""
        edges = sum(len(x[1]) for x in tasks)
        self.graphs.append((12, u(number) + t('g%d' % number) +
                            u(len(tasks)) + u(edges) + u(len(frames)) +
                            b''.join(map(u, frames))))
        self.graphs.append((13, u(number) + u(0) + b''.join(
            u(self.name(kind)) + u(0) + t('') + u(len(succ)) +
            b''.join(s(x - i) for x in succ)
            for i, (kind, succ) in enumerate(tasks))))

    def edges(self, number, edges):
        """edges: list of (task, successor, data or port, mode)."""
        self.graphs.append((20, u(number) + b''.join(
            u(a) + s(b - a) + u(self.name(name)) + u(mode)
            for a, b, name, mode in edges)))

    # ---- writing ----

    def links(self, executor, number, last, links):
        """One record; last is what the record before left."""
        bits, out = 0, b''
        if number != last['number'] + 1:
            bits |= 1
            out += s(number - last['number'] - 1)
        last['number'] = number
        by = links.get('by')
        if by:
            bits |= 6
            out += u(by[0]) + s(by[1] - last['by'])
            last['by'] = by[1]
        if 'ready' in links:
            bits |= 8
            ready = START + links['ready']
            out += s(ready - last['ready'])
            last['ready'] = ready
        run = (links['frame'] + 1, links['run']) if 'run' in links else (0, 0)
        if run != last['run']:
            bits |= 16
            out += u(run[0]) + s(run[1] - last['run'][1])
            last['run'] = run
        size = links.get('bytes', (0, 0))
        if size != last['bytes']:
            bits |= 32
            out += u(size[0]) + u(size[1])
            last['bytes'] = size
        edge = links.get('edge', (0, 0))
        if edge != last['edge']:
            bits |= 64
            out += u(edge[0]) + u(edge[1])
            last['edge'] = edge
        return u(bits) + out

    @staticmethod
    def nothing():
        return {'number': 0, 'by': 0, 'ready': START, 'run': (0, 0),
                'bytes': (0, 0), 'edge': (0, 0)}

    def slices_chunks(self, executor, part):
        at, out = START, u(executor) + u(START) + u(0)
        task, last = 0, self.nothing()
        links = u(executor) + u(START)
        for end, begin, name, number, more in part:
            index = more.get('task', -1)
            out += s(START + begin - at) + u(end - begin) + u(name) + \
                s(index - task)
            at, task = START + end, index
            links += self.links(executor, number, last, more)
        if self.facts:
            yield 9, links
        yield 5, out

    def span_chunks(self, lane, part):
        at, out = START, u(lane) + u(START)
        last, links = self.nothing(), u(lane) + u(START)
        for end, begin, sort, name, value, number, more in part:
            out += u(sort) + s(START + begin - at) + u(end - begin) + \
                u(name) + s(value)
            at = START + end
            links += self.links(lane, number, last, more)
        yield 9, links
        yield 10, out

    def chunks(self):
        yield 1, t('lkdf') + u(1 + len(self.counters)) + t('tasks') + t('tasks') + \
            b''.join(t(x) + t('bodies') for x in self.counters) + \
            u(len(EVENTS)) + b''.join(t(x) for e in EVENTS for x in e)
        for i, (kind, cpu, node) in enumerate(self.executors):
            yield 2, u(i) + u(kind) + s(cpu) + s(node) + u(1000 + i)
        yield 2, u(self.nr) + u(OUTSIDE) + s(-1) + s(-1) + u(999)
        yield 4, b''.join(u(n) + t(x) for x, n in
                          [('(more)', 0)] + list(self.names.items()))
        if self.facts:
            yield from self.graphs
        for e, found in sorted(self.events.items()):
            at, out = START, u(e) + u(START)
            for when, event, a, b in sorted(found):
                out += s(START + when - at) + u(event) + u(a) + u(b)
                at = START + when
            yield 6, out
        for e, found in sorted(self.lanes.items()):
            found = sorted(found, key=lambda x: (x[0], -x[1]))
            for i in range(0, len(found), 4096):
                yield from self.slices_chunks(e, found[i:i + 4096])
        if self.facts:
            for e, found in sorted(self.spans.items()):
                found = sorted(found, key=lambda x: (x[0], x[1], x[5]))
                for i in range(0, len(found), 4096):
                    yield from self.span_chunks(e, found[i:i + 4096])
            yield from self.rest
        nr_slices = sum(len(x) for x in self.lanes.values())
        yield 7, u(0) + u(START) + \
            u(self.counted.get(0, nr_slices + self.lost)) + \
            b''.join(u(x) for x in self.counters.values())
        yield 8, u(nr_slices) + u(self.lost) + \
            u(sum(len(x) for x in self.events.values())) + u(0)

    def write(self, path):
        head = struct.pack('<QIIIIQQII12x', 0x6361727466646b6c, 1, 64, 1024,
                           self.nr, START, START, 4242, 0)
        with open(path, 'wb') as f:
            f.write(head + struct.pack('<I', zlib.crc32(head)))
            for i, (sort, payload) in enumerate(self.chunks()):
                head = struct.pack('<III', sort, len(payload), i)
                f.write(head + struct.pack('<I', zlib.crc32(head + payload)) +
                        payload)


class Machine:
    """
    A scheduler of one queue: what is ready first runs first, on the worker
    that is free first. pause: ns between two bodies of a worker.
    """

    def __init__(self, trace, workers, pause=200):
        self.trace, self.pause = trace, pause
        self.free = [0] * workers
        self.last = [0] * workers

    def idle(self, worker, until):
        since = self.last[worker]
        if until - since > 20000:
            self.trace.park(worker, since + 5000, until - 1000)

    def run(self, kind, length, ready, by=None, late=300, worker=None, **more):
        """Returns (uid, end)."""
        w = worker
        if w is None:
            w = min(range(len(self.free)), key=lambda i: (self.free[i], i))
        begin = max(self.free[w] + self.pause, ready + late)
        end = begin + (length(w) if callable(length) else length)
        self.idle(w, begin)
        uid = self.trace.slice(w, kind, begin, end, ready=ready, by=by, **more)
        self.free[w] = self.last[w] = end
        return uid, end


def samples(trace, workers, wall, cpu, queued, every=10 * MS):
    """Threads that had that share of a CPU and of a run queue all the time."""
    for at in range(0, wall + every, every):
        for w in range(workers):
            trace.thread(w, at, int(at * cpu), int(at * queued))


def fair_samples(trace, machine, wall, every=10 * MS):
    """Threads that slept in gaps, and were on a CPU otherwise."""
    for w in range(len(machine.free)):
        gaps, last = [], 0
        for end, begin, *_ in trace.lanes.get(w, []):
            if begin - last > 20 * US:
                gaps.append((last, begin))
            last = end
        gaps.append((last, wall + 2 * every))
        at, slept, i = 0, 0, 0
        while at <= wall + every:
            while gaps[i][1] <= at:
                slept += gaps[i][1] - gaps[i][0]
                i += 1
            trace.thread(w, at, at - slept - max(0, at - gaps[i][0]), 0)
            at += every
