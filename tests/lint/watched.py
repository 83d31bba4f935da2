#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
A test of tests/api and tests/unit that hangs says where: its program calls
tap_start(), or a function of a header beside it that does. An alarm() alone
ends it without a word, and counts the time that other programs take: tests call
watchdog_set() of tests/watchdog.h instead, and scripts of tests/tools take
"$limit" instead of timeout(1).
"""
import os
import re

import ctext

DEFINED = re.compile(r'(?m)^[ ]?[a-z_][\w \t*]*?\b(\w+)\([^;{}]*?\)\s*'
                     r'\{(.*?)^\}', re.S)
INCLUDED = re.compile(r'(?m)^#include "(tests/(?!tap\.h|hang\.h)[\w/.-]+)"')
WATCH = {'tap_start'}

report = ctext.Report()


def calls(text, names):
    return any(re.search(r'\b%s\(' % name, text) for name in names)


def starters(path):
    """Names of functions, by way of a header, that start the watch."""
    names = set(WATCH)
    if not os.path.exists(path):
        return names
    text = ctext.read(path)
    for inner in INCLUDED.findall(text):
        names |= starters(inner)
    bodies = {m.group(1): m.group(2)
              for m in DEFINED.finditer(
                  ctext.ATTRIBUTE.sub('', ctext.code(text)))}
    nr = 0
    while nr != len(names):
        nr = len(names)
        names |= {name for name in bodies if calls(bodies[name], names)}
    return names


def is_watched(path):
    text = ctext.read(path)
    names = set(WATCH)
    for inner in INCLUDED.findall(text):
        if inner.endswith('.c') and is_watched(inner):
            return True
        names |= starters(inner)
    return calls(ctext.code(text), names)


for path in ctext.files('tests/api', 'tests/unit'):
    if re.search(r'/test_[^/]*\.c$', path) and not is_watched(path):
        report.say(path, 1, 'no tap_start(): a hang would say nothing')

ALARM = re.compile(r'\balarm\((?!\w*TELLS_S\))')
for path in ctext.files(*('tests/' + room for room in (
        'api', 'cuda', 'kmod', 'mpi', 'oracle', 'unit', 'vm'))):
    if path.endswith(('.c', '.h')):
        for nr, line in enumerate(ctext.code(ctext.read(path)).split('\n'), 1):
            if ALARM.search(line):
                report.say(path, nr, 'alarm(): watchdog_set() counts the '
                           'seconds of an idle machine')

# With a signal of its own it is part of the test.
TIMEOUT = re.compile(r'(?<![\w-])timeout (?!-s |--preserve-status )')
for path in ctext.files('tests/tools', ends='.sh'):
    if not path.endswith('/arm64.sh'):
        for nr, line in enumerate(ctext.read(path).split('\n'), 1):
            if TIMEOUT.search(line) and not re.match(r'\s*#', line):
                report.say(path, nr, 'timeout: "$limit" counts the seconds of '
                           'an idle machine')

report.end()
