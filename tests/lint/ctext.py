# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
C source as text, for the checks that need a little more than grep: code
without comments and strings, comments without code, and what stands at file
scope. It reads kernel style as clang-format prints it, it is no compiler.
"""
import re
import subprocess
import sys

TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.M | re.S)
ATTRIBUTE = re.compile(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)'
                       r'|\balignas\s*\([^()]*\)')


def blank(text):
    """Same length, same lines, nothing else."""
    return re.sub(r'[^\n]', ' ', text)


def code(text):
    """Comments blank, strings and characters empty."""
    def keep(m):
        s = m.group()
        if s[0] == '/':
            return blank(s)
        return s[0] + blank(s[1:-1]) + s[0]
    return TOKEN.sub(keep, text)


def without_directives(text):
    return DIRECTIVE.sub(lambda m: blank(m.group()), text)


def comments(text):
    """Code blank, comments kept."""
    out, at = [], 0
    for m in TOKEN.finditer(text):
        if m.group()[0] == '/':
            out += [blank(text[at:m.start()]), m.group()]
            at = m.end()
    return ''.join(out) + blank(text[at:])


def line_of(text, at):
    return text.count('\n', 0, at) + 1


def match_close(text, at):
    """Index of the bracket that closes the one at at."""
    pairs = {'(': ')', '{': '}', '[': ']'}
    opening, closing, depth = text[at], pairs[text[at]], 0
    for i in range(at, len(text)):
        if text[i] == opening:
            depth += 1
        elif text[i] == closing:
            depth -= 1
            if depth == 0:
                return i
    return len(text) - 1


def split_args(text):
    """At the commas outside brackets."""
    out, depth, cur = [], 0, ''
    for c in text:
        depth += (c in '([{') - (c in ')]}')
        if c == ',' and depth == 0:
            out.append(cur.strip())
            cur = ''
        else:
            cur += c
    return out + [cur.strip()] if cur.strip() or out else []


class Item:
    """A declaration or definition at file scope; body only of functions."""

    def __init__(self, path, text, at, head, body_at=0, end=0):
        self.path, self.line = path, line_of(text, at)
        self.head = ATTRIBUTE.sub(' ', head).strip()
        self.body = text[body_at:end + 1] if body_at else ''
        self.body_line = line_of(text, body_at)
        self.end_line = line_of(text, end) if end else self.line

    def call(self):
        """(name, text in the brackets) of "type f(...)", else (None, '')."""
        m = re.match(r'[^(]*\w[\s*]+(\w+)\s*\(', self.head)
        if not m or not self.head.endswith(')'):
            return None, ''
        if re.match(r'[^()]*\(\s*\*', self.head):
            return None, ''
        close = match_close(self.head, m.end() - 1)
        return m.group(1), self.head[m.end():close]

    def params(self):
        args = split_args(self.call()[1])
        return [] if args == ['void'] else args


def items(path, text):
    """Everything at file scope of text, which is code()."""
    text = without_directives(text)
    head, start, i = '', None, 0
    while i < len(text):
        c = text[i]
        if c == '{':
            end = match_close(text, i)
            known = ATTRIBUTE.sub(' ', head).strip()
            if re.match(r'(extern\s*"\s*"|(inline )?namespace\b[^(=]*)$', known):
                head, start = '', None
            elif known.endswith(')') and '=' not in known.split('(')[0]:
                yield Item(path, text, start, head, i, end)
                head, start, i = '', None, end
            else:
                head, i = head + '{}', end
        elif c == ';':
            if head.strip():
                yield Item(path, text, start, head)
            head, start = '', None
        elif c == '}':
            head, start = '', None
        else:
            if start is None and not c.isspace():
                start = i
            head += c
        i += 1


def param_name(param):
    """The name in a parameter declaration, '...' for the dots."""
    if param == '...':
        return param
    m = re.search(r'\(\s*\*\s*(?:const\s+)?(\w+)', param)
    if m:
        return m.group(1)
    return re.findall(r'\w+', re.sub(r'\[.*', '', param))[-1]


def files(*prefixes, ends=('.c', '.h')):
    out = subprocess.run(['tests/lint/files.sh', *prefixes], check=True,
                         stdout=subprocess.PIPE, text=True).stdout.split('\n')
    return [f for f in out if f.endswith(ends)]


def read(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


class Report:
    """Prints what is wrong; the exit status says whether anything was."""

    def __init__(self):
        self.bad = False

    def say(self, path, line, text):
        print(f'{path}:{line}: {text}')
        self.bad = True

    def end(self):
        sys.exit(1 if self.bad else 0)


def skip(why):
    print(why)
    sys.exit(77)
