#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Documentation/glossary.rst has the terms of the pages for users, in the order of the
alphabet. A page uses each of them, each page of PAGES has a link to it, and a term
that a page introduces in *italics* is one of it. A word of NOT_TERMS that its page has
no more is an error.
"""
import glob
import os
import re
import sys

GLOSSARY = 'Documentation/glossary.rst'
# Where a reader meets the terms first.
PAGES = ['README.md'] + [f'Documentation/{name}.rst' for name in (
    'choosing', 'control-flow', 'counters', 'cpp', 'data', 'devices', 'findings',
    'first', 'first-graph', 'index', 'loops', 'options', 'places', 'report',
    'tools', 'troubleshooting', 'tuning', 'tutorial')]
# Words in italics that are no terms: columns of tables, and emphasis.
NOT_TERMS = {
    'ownership': {'skipped'}, 'ported': {'quiet', 'busy'},
    'signals': {'Held by', 'ended', 'Callers', 'progress'},
    'figures': {'floor', 'peers', 'short', 'none', 'Before', 'trust', 'now',
                'Plan', 'By best', 'resident'},
    'kmod': {'map'},
}


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def terms_of(text):
    """Each term with its line: what stands above lines that are indented."""
    for m in re.finditer(r'(?m)^(\w[^\n]*)\n  \S', text):
        yield text.count('\n', 0, m.start()) + 1, m.group(1)


def problems(glossary, pages):
    terms = list(terms_of(glossary))
    names = [t for _, t in terms]
    every = '\n'.join(pages.values())
    for line, term in terms:
        if not re.search(rf'\b{re.escape(term[:-1])}\w*', every, re.I):
            yield f'{GLOSSARY}:{line}: no page has the word {term}: take it out'
    if names != sorted(names):
        wrong = next(a for a, b in zip(names, sorted(names)) if a != b)
        yield f'{GLOSSARY}:1: {wrong} is not in the order of the alphabet'
    for path in PAGES:
        if path in pages and 'glossary.rst' not in pages[path]:
            yield f'{path}:1: add a link to glossary.rst'
    for path, text in pages.items():
        allowed = NOT_TERMS.get(name_of(path), set())
        seen = set()
        for m in re.finditer(r'(?<![\w*`:/])\*([a-zA-Z][a-z ]*)\*(?![\w*])', text):
            seen.add(m.group(1))
            if m.group(1) not in allowed and m.group(1).lower() not in names:
                line = text.count('\n', 0, m.start()) + 1
                yield (f'{path}:{line}: *{m.group(1)}* is a term: add it to '
                       f'{GLOSSARY}')
        for word in sorted(allowed - seen):
            yield (f'tests/lint/glossary.py:1: {path} has no *{word}* any more: '
                   'take it out of NOT_TERMS')


def main():
    if not os.path.exists(GLOSSARY):
        return 0
    paths = ['README.md'] + sorted(glob.glob('Documentation/*.rst'))
    pages = {p: read(p) for p in paths if os.path.exists(p) and
             p not in (GLOSSARY, 'Documentation/changes.rst')}
    found = list(problems(read(GLOSSARY), pages))
    if found:
        print('\n'.join(found))
    return bool(found)


sys.exit(main())
