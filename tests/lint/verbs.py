#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Each verb of the table in tools/main/lkdf.c is named in the table of tools.rst
and among the manual pages of tools.mk. The scripts of tests/tools
that run every verb take the list from "lkdf --help": none has a list of its own.
"""
import re

import ctext

TABLE = 'tools/main/lkdf.c'
MANY = 5

if not ctext.files(TABLE):
    ctext.skip('there is no table of verbs')
report = ctext.Report()
text = ctext.read(TABLE)
table = re.search(r'struct cli_verb verbs\[\] = \{\n(.*?)\n\};', text, re.S)
verbs = re.findall(r'^\s*\{ "([a-z]+)",', table.group(1), re.M)
for path, form in (('Documentation/tools.rst', '^``%s``'),
                   ('tools/tools.mk', r'^MAN1 :=(?:.*\\\n)*.*\b%s\b')):
    page = ctext.read(path)
    for verb in verbs:
        if not re.search(form % verb, page, re.M):
            line = ctext.line_of(text, text.index(f'"{verb}"'))
            report.say(TABLE, line, f'the verb {verb} is not in {path}')
for path in ctext.files('tests/tools', ends=('.sh',)):
    script = ctext.read(path)
    for m in re.finditer(r'\bfor \w+ in ((?:[^;\n]|\\\n)*);', script):
        if len(set(verbs) & set(m.group(1).split())) >= MANY:
            report.say(path, ctext.line_of(script, m.start()),
                       'a list of verbs: take it from "lkdf --help"')
report.end()
