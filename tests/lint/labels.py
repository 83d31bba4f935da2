#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Memory orders: an access stronger than relaxed has a comment with a label
[name.x] within the six lines above its statement or on it. A label says
"pairs with [other.y]", or another label says so of it; both must exist. Where
all sides run the same line, as when a count drops to zero, it says "pairs with
itself". A label is made where it starts a comment or a sentence, or follows
another that does; anywhere else it is a mention, and must exist. A section of
memory-order.rst names a label of each first word, and the index at the end of that
page is what --index prints.
"""
import re
import sys

import ctext

ABOVE = 6
PAGE = 'Documentation/internals/memory-order.rst'
INDEX = 'Index by label'
ACCESS = re.compile(r'\ba_(load|store|xchg|cas|add|sub|or|and)\s*\(')
LABEL = r'\[[a-z][a-z0-9_]*\.[a-z0-9_]+\]'
PARTNERS = re.compile(r'pairs\s+with\s+((?:' + LABEL + r'(?:\s*,\s*|\s+and\s+|'
                      r'\s*,\s*and\s+|\s+or\s+)?)+)')
ITSELF = re.compile(r'pairs\s+with\s+itself')


def is_ordered(kind, args):
    return any(a != 'relaxed' for a in args[-2 if kind == 'cas' else -1:])


report = ctext.Report()
made, named, mentioned = {}, {}, {}

for path in ctext.files('lib'):
    if path == 'lib/base/atomic.h':
        continue
    raw = ctext.read(path)
    text = ctext.code(raw)
    # Comments as flowing text of the same length: no stars at line starts.
    notes = re.sub(r'(?m)^([ \t]*)\*(?!/)', r'\1 ', ctext.comments(raw))
    inside = set()
    for m in PARTNERS.finditer(notes):
        line = ctext.line_of(notes, m.start())
        for other in re.finditer(LABEL, m.group(1)):
            named.setdefault(other.group(), []).append((path, line))
            inside.add(m.start(1) + other.start())
    at = {}
    own = []
    for m in re.finditer(LABEL, notes):
        before = notes[:m.start()].rstrip(' \t\n,')
        if m.start() in inside:
            continue
        if before.endswith(('/*', '//', '.')) or \
                own and len(before) == own[-1].end():
            own.append(m)
        else:
            mentioned.setdefault(m.group(), []).append(
                (path, ctext.line_of(notes, m.start())))
    for m, after in zip(own, own[1:] + [None]):
        line = ctext.line_of(notes, m.start())
        at[line] = m.group()
        rest = notes[m.end():].split('*/')[0]
        if after and after.start() > m.end() + 2:
            rest = notes[m.end():after.start()].split('*/')[0]
        made.setdefault(m.group(), []).append((path, line, rest))
    for m in ACCESS.finditer(text):
        end = ctext.match_close(text, m.end() - 1)
        args = ctext.split_args(text[m.end():end])
        if not is_ordered(m.group(1), args):
            continue
        first = max(text.rfind(c, 0, m.start()) for c in ';{}') + 1
        first += len(text[first:]) - len(text[first:].lstrip())
        top = ctext.line_of(text, min(first, m.start())) - ABOVE
        last = text.find(';', end)
        bottom = ctext.line_of(text, last if last >= 0 else end)
        if not any(top <= line <= bottom for line in at):
            report.say(path, ctext.line_of(text, m.start()),
                       f'a_{m.group(1)}() with an order: say in a comment '
                       'above it "[name.x] why; pairs with [name.y]"')

for label, places in [*named.items(), *mentioned.items()]:
    if label not in made:
        for path, line in places:
            report.say(path, line, f'{label} is named here and made nowhere')

for label, places in made.items():
    if label in named:
        continue
    if not any(PARTNERS.search(rest) or ITSELF.search(rest)
               for _, _, rest in places):
        path, line, _ = places[0]
        report.say(path, line, f'{label} has no partner: say "pairs with [...]"')



def sections_of(text):
    """By word: how many labels of it each section names."""
    found, name, above = {}, None, ''
    lines = text.split('\n')
    for line, below in zip(lines, lines[1:] + ['']):
        if re.fullmatch('=+', below) and len(below) == len(line):
            # The page's own title has a ruler above it, too.
            name = None if re.fullmatch('=+', above) else line
        above = line
        for word in re.findall(r'``\[([a-z][a-z0-9_]*)\.', line):
            if name:
                counts = found.setdefault(word, {})
                counts[name] = counts.get(name, 0) + 1
    return found


def index_of(found):
    """The table of words and sections, as the page has it: most labels first."""
    width = max(len(w) for w in found) + 4
    rows = []
    for word in sorted(found):
        names = sorted(found[word], key=lambda n: -found[word][n])
        lines = [f'{f"``{word}``":{width}}  `{names[0]}`_']
        for name in names[1:]:
            lines[-1] += ','
            if len(lines[-1]) + len(name) + 5 > 88:
                lines.append(' ' * (width + 1))
            lines[-1] += f' `{name}`_'
        rows += lines
    ruler = '=' * width + '  ' + '=' * (86 - width)
    return '\n'.join([ruler, f'{"word":{width}}  sections', ruler] + rows +
                     [ruler])


for page in ctext.files(PAGE, ends=('.rst',)):
    body, _, index = ctext.read(page).partition('\n' + INDEX + '\n')
    found = sections_of(body)
    for label, places in made.items():
        word = label[1:].split('.')[0]
        if word not in found:
            report.say(*places[0][:2],
                       f'no section of {page} names a label of {word}')
            found[word] = {'': 1}
    wanted = index_of(found) if found else ''
    if '--index' in sys.argv:
        print(wanted)
    elif wanted not in index:
        report.say(page, body.count('\n') + 2, 'the index is not what '
                   'tests/lint/labels.py --index prints: put that there')
report.end()
