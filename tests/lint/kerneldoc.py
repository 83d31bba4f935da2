#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Every public function has one kernel-doc comment, in the header, directly
above it: each parameter as @name:, Return: where it returns something, and
no comment speaks of a function or parameter that does not exist.
"""
import re

import ctext

report = ctext.Report()
docs, functions = {}, {}

for path in ctext.files('lib/include', ends=('.h',)):
    text = ctext.read(path)
    for m in re.finditer(r'/\*\*\n(.*?)\*/', text, re.S):
        title = re.match(r'\s*\*\s*(\w+)\(\)\s+-\s+\S', m.group(1))
        line = ctext.line_of(text, m.start())
        if title:
            if title.group(1) in docs:
                report.say(path, line, f'second comment on {title.group(1)}()')
            docs[title.group(1)] = (path, line, m.group(1),
                                    ctext.line_of(text, m.end()))
        elif not re.match(r'\s*\*\s*(struct|enum|union|typedef|DOC:)', m.group(1)):
            report.say(path, line, 'start it "name() - what it does"')
    for item in ctext.items(path, ctext.code(text)):
        name = item.call()[0]
        if name and not name.startswith('_') and \
                not item.head.startswith('typedef'):
            functions[name] = item

for name, (path, line, text, _) in docs.items():
    if name not in functions:
        report.say(path, line, f'comment on {name}(), which does not exist')

for name, item in functions.items():
    if name not in docs:
        report.say(item.path, item.line, f'{name}() has no /** comment')
        continue
    path, line, text, end = docs[name]
    if path != item.path or end + 1 != item.line:
        report.say(path, line, f'not directly above {name}()')
    named = re.findall(r'^\s*\*\s*@(\w+|\.\.\.):[ \t]*\S', text, re.M)
    params = [ctext.param_name(p) for p in item.params()]
    for param in params:
        if param not in named and param != '...':
            report.say(path, line, f'{name}(): @{param}: is not described')
    for param in named:
        if param not in params:
            report.say(path, line, f'{name}() has no parameter {param}')
    is_void = re.match(r'(static |inline |extern )*void\s+\w+\s*\(', item.head)
    if not is_void and not re.search(r'^\s*\*\s*Return: *\S', text, re.M):
        report.say(path, line, f'{name}(): say what it returns: "Return: ..."')
report.end()
