#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Sentences of public headers, README and the pages that a beginner reads
have a noun as their subject: none begins with Who, What, One or "The
same", nor with the verb that tells what a call does. Questions, which end with
a question mark, may.
"""
import glob
import os
import re
import sys

PAGES = ['README.md'] + [f'Documentation/{name}.rst' for name in (
    'architecture', 'calls', 'data', 'data-model', 'dupes', 'figures',
    'first-graph', 'tutorial', 'troubleshooting')]

# After a full stop or colon, at the start of a comment, or of a paragraph.
BREAK = r'(?:(?<=[.:;!?])\s[\s*]*|/\*[\s*]*|\n[\s*]*\n[\s*]*|\A[\s*]*)'
SENTENCE = re.compile(BREAK + r'(Who|What|One|The same|'
                      r'Does|Gives|Looks|Takes|Waits)(?![-\w])([^.?]*[.?]?)')


def check(path):
    with open(path, encoding='utf-8') as f:
        text = f.read()
    found = False
    for m in SENTENCE.finditer(text):
        if m.group(2).endswith('?'):
            continue
        found = True
        line = text.count('\n', 0, m.start(1)) + 1
        print(f'{path}:{line}: "{m.group(1)} ..." has no noun as its subject: '
              'say who does what to which object')
    return found


def main():
    paths = sorted(glob.glob('lib/include/lkdf/*.h'))
    paths += [p for p in PAGES if os.path.exists(p)]
    return max([check(p) for p in paths], default=False)


sys.exit(main())
