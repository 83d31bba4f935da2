#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
ranks.py DIR: recordings of three ranks of a program of MPI, 100 ms by the clock of
rank 0. Rank 2's clock is 5 s ahead. That of rank 1 is right at the start and 10 ms
behind at the end, after 90 of its own.
"""
import sys

from recording import MARK, MS, REGION, Trace

AHEAD = 5000


class Rank:
    """Times in ms of its own clock."""

    def __init__(self, number, offsets):
        self.trace = Trace(1)
        self.trace.fact('program', 'solver --fast')
        for at, ahead in offsets:
            self.mark('MPI rank', at, number)
            self.mark('MPI clock', at, ahead * MS)

    def mark(self, label, at, value):
        self.trace.span(1, MARK, at * MS, at * MS, label, value)

    def body(self, kind, begin, end):
        self.trace.slice(0, kind, begin * MS, end * MS)

    def request(self, label, begin, end):
        self.trace.span(1, REGION, begin * MS, end * MS, label)


def all_ranks():
    first = Rank(0, [(0, 0)])
    first.body('solve', 0, 38)
    first.body('check', 38, 100)
    # It goes while rank 0 computes: nobody waits for it.
    first.request('MPI to 2', 38, 60)
    first.request('MPI', 60, 61)

    second = Rank(1, [(0, 0), (90, 10)])
    second.request('MPI to 2', 0, 9)
    second.body('pack', 9, 81)
    second.request('MPI from 3', 81, 90)

    third = Rank(2, [(AHEAD, -AHEAD), (AHEAD + 100, -AHEAD)])
    third.request('MPI from 0', AHEAD, AHEAD + 38)
    third.request('MPI from 2', AHEAD + 50, AHEAD + 60)
    third.body('unpack', AHEAD + 38, AHEAD + 50)
    third.body('unpack', AHEAD + 60, AHEAD + 100)
    return [first, second, third]


for i, rank in enumerate(all_ranks()):
    rank.trace.write('%s/r.%d.lkdf' % (sys.argv[1], i))
