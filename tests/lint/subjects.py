#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Sentences have a noun as their subject: in sources, pages and examples none
begins with Who, What, One, Of or "The same". In public headers no part of a sentence
has who or one as its subject, and none begins with Of. In public headers, README and the pages
that a beginner reads none begins with the verb that tells what a call does,
either. On pages for users a sentence has 30 words at most and no word in a sense of
our own: see PRIVATE. Questions, which end with a question mark, headings and the terms of a
list may. In the headers of lib a comment above a function has four words at least,
but where it refers to a public call: "As lkdf_event_any()."
"""
import glob
import os
import re
import sys

import ctext

PAGES = ['README.md'] + [f'Documentation/{name}.rst' for name in (
    'internals/architecture', 'calls', 'data', 'internals/data-model', 'dupes',
    'figures', 'first-graph', 'tutorial', 'troubleshooting')]

# After a full stop or colon, at the start of a comment, or of a paragraph.
BREAK = r'(?:(?<=[.:;!?])\s[\s*]*|/\*[\s*]*|\n[\s*]*\n[\s*]*|\A[\s*]*)'
WHO = 'Who|Whoever|What|Whatever|One|The same|As above'
MOST_WORDS = 30
# Words that the pages used in a sense of their own: say "passed", "contends",
# "is in", "is".
PRIVATE = re.compile(r'\b(told|meets|lies|stands)\b')
VERBS = 'Does|Gives|Looks|Takes|Waits'


# As the subject of a part of a sentence, and "Of" before a noun that is none.
INSIDE = re.compile(r'(?<=[,;:.] )(?:[Ww]ho(?:ever)?|[Oo]ne (?:that|who)|Of)'
                    r'(?![-\w])')


def pattern(words):
    return re.compile(BREAK + rf'({words})(?![-\w])([^.?]*[.?]?)')


def is_title(text, at):
    """A line above a ruler, or above lines that are farther in."""
    begin = text.rfind('\n', 0, at) + 1
    lines = text[begin:].split('\n', 2) + ['', '']
    margin = len(lines[0]) - len(lines[0].lstrip())
    return text[begin:at].strip() == '' and (
        re.match(r'[=~-]{3}', lines[1]) is not None or
        re.match(rf' {{{margin + 1},}}\S', lines[1]) is not None)


def read(path):
    """The text of a file; programs and outputs of a page in Markdown are blank."""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    if path.endswith('.md'):
        text = re.sub(r'(?ms)^```.+?^```$',
                      lambda m: re.sub(r'[^\n]', ' ', m.group()), text)
    return text


def begins(path, sentence):
    """Line and first word of each sentence that begins in this way."""
    text = read(path)
    for m in sentence.finditer(text):
        if m.group(2).endswith('?'):
            continue
        if path.endswith('.rst') and is_title(text, m.start(1)):
            continue
        yield text.count('\n', 0, m.start(1)) + 1, m.group(1)


def check(path, sentence):
    found = False
    for line, word in begins(path, sentence):
        found = True
        print(f'{path}:{line}: "{word} ..." has no noun as its subject: '
              'say who does what to which object')
    return found


def check_inside(path):
    """Subjects of later parts of a sentence, in the comments of a public header."""
    found = False
    for m in ctext.TOKEN.finditer(ctext.read(path)):
        text = re.sub(r'\s*\n\s*\*?\s*', ' ', m.group())
        text = re.sub(r'^/\*+ ?', '. ', re.sub(r'{[^}]*}', '{}', text))
        bad = INSIDE.search(text) if m.group().startswith('/*') else None
        if bad:
            found = True
            line = ctext.line_of(ctext.read(path), m.start())
            print(f'{path}:{line}: "{text[bad.start():bad.start() + 50]}": a '
                  'part of the sentence has no noun as its subject')
    return found


def check_of(paths):
    """Sentences that begin with Of: none."""
    found = False
    for path in paths:
        for line, _ in begins(path, pattern('Of')):
            found = True
            print(f'{path}:{line}: "Of ..." begins a sentence: put its subject first')
    return found


def prose(text):
    """Paragraphs and entries of lists of a page, each with its line: no programs,
    tables and headings."""
    at = 1
    for part in re.split(r'(\n[ \t]*\n)', text):
        line, at = at + len(part) - len(part.lstrip('\n')), at + part.count('\n')
        lines = part.strip('\n').split('\n')
        if not part.strip() or any(re.match(r'\t|    |\.\. |[|]', x) for x in lines) or \
                any(re.search(r'[=~-]{3}', x) for x in lines):
            continue
        for entry in re.split(r'(?m)\n(?=\s*(?:[*-]|\d\.|#) )', '\n'.join(lines)):
            yield line, re.sub(r'\A\S.*\n(?=  \S)', '', entry)
            line += entry.count('\n') + 1


def sentences(entry):
    plain = re.sub(r'``[^`]*``', 'word', entry)
    plain = re.sub(r'`([^`<]*?)\s*<[^`>]*>`_', r'\1', plain)
    plain = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', plain)
    plain = re.sub(r'`[^`]*`', 'word', plain)
    return re.split(r'[.:!?](?:\s+|$)', ' '.join(plain.split()))


def check_long(path):
    """Sentences of a page for users that a reader has to read twice."""
    found = False
    for line, entry in prose(read(path)):
        for sentence in sentences(entry):
            words = [w for w in sentence.split() if re.search(r'\w', w)]
            private = PRIVATE.search(sentence)
            if len(words) <= MOST_WORDS and not private:
                continue
            found = True
            print(f'{path}:{line}: "{" ".join(words[:5])} ..." ' +
                  (f'uses {private.group(1)}: say it in a common word' if private
                   else f'has {len(words)} words: make two sentences of it'))
    return found


# A comment above a function's declaration or, in a header, its definition.
FUNCTION = re.compile(r'/\*((?:(?!\*/).)*)\*/\n(?:static inline )?'
                      r'[a-zA-Z_][\w *]*[ *](\w+)\([^;{]*[;{]', re.S)
REFERENCE = re.compile(r'(?:As|See) lkdf_\w+\(\)( says)?\.')


def check_short(path):
    """Comments of functions that say less than a sentence does."""
    found = False
    text = ctext.read(path)
    for m in FUNCTION.finditer(text):
        words = re.sub(r'\s*\n\s*\*?\s*', ' ', m.group(1)).split()
        if len(words) > 3 or REFERENCE.fullmatch(' '.join(words)):
            continue
        found = True
        print(f'{path}:{ctext.line_of(text, m.start())}: the comment of '
              f'{m.group(2)}() has fewer than four words: say who does what to '
              'which object')
    return found


def main():
    strict = sorted(glob.glob('lib/include/lkdf/*.h'))
    found = [check_inside(p) for p in strict]
    strict += [p for p in PAGES if os.path.exists(p)]
    found += [check(p, pattern(f'{WHO}|{VERBS}')) for p in strict]
    ends = ('.c', '.h', '.cc', '.hpp', '.rst')
    found += [check_short(p) for p in ctext.files('lib', ends=('.h',))
              if p not in strict]
    others = [p for folder in ('lib', 'tools', 'bpf', 'kmod', 'Documentation')
              for p in ctext.files(folder, ends=ends) if p not in strict]
    found += [check(p, pattern(WHO)) for p in others]
    found.append(check_of(strict + others))
    found += [check_long(p) for p in ['README.md'] + sorted(
        glob.glob('Documentation/*.rst')) if os.path.exists(p) and
        p != 'Documentation/figures.rst']
    return any(found)


sys.exit(main())
