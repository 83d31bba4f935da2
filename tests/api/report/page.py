#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
page.py FACT BASE: does the page BASE.html, as the browser's BASE.dom has it,
agree with BASE.txt and BASE.json? Exit status 0: yes. page.py fits|contrast BASE
dark|light WIDTH: what looks.js has found in such a window. page.py first BASE TITLE
FIX: a reader of the page alone sees a cause with these words first. page.py fine
BASE: he sees that nothing outside of bodies is wrong.
"""
import base64
import hashlib
import html
import json
import re
import sys
from html.parser import HTMLParser


class Tree(HTMLParser):
    """Text by element; attributes of all."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.tables, self.items, self.heads = [], {}, {}, []
        self.rows, self.cards, self.part = [], [], None
        self.key, self.titles = None, []
        self.in_title = self.in_cell = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.tags.append((tag, a))
        if tag == 'table':
            self.rows = self.tables.setdefault(a.get('id'), [])
        elif tag == 'tr':
            self.rows.append([])
        elif tag == 'td' and self.rows:
            self.rows[-1].append('')
            self.in_cell = True
        elif tag == 'li':
            self.key = a.get('data-class')
            if self.key:
                self.items[self.key] = ''
        self.start_part(tag, a.get('class', '').split())
        self.in_title = self.in_title or tag == 'h3'
        if tag == 'h3':
            self.titles.append('')

    def start_part(self, tag, classes):
        """Of a finding: its cost, title, reason and fix."""
        if tag == 'div' and 'finding' in classes:
            self.cards.append(dict(cost='', title='', why='', fix=''))
        elif tag in ('h2', 'button'):
            self.part = None
        elif tag == 'div' and 'cost' in classes:
            self.part = 'cost'
        elif tag == 'h3':
            self.part = 'title'
        elif tag == 'p':
            self.part = 'fix' if 'fix' in classes else 'why'

    def handle_endtag(self, tag):
        if tag in ('h3', 'p'):
            self.part = None
        if tag == 'td':
            self.in_cell = False
        if tag == 'li':
            self.key = None
        if tag == 'h3':
            self.in_title = False

    def handle_data(self, data):
        if self.in_cell:
            self.rows[-1][-1] += data
        if self.key:
            self.items[self.key] += data
        if self.in_title:
            self.titles[-1] += data
        if self.part and self.cards:
            self.cards[-1][self.part] += data


def read(end):
    with open(sys.argv[2] + end, encoding='utf-8') as f:
        return f.read()


def embedded():
    return json.loads(re.search(
        r'<script type="application/json" id="data">(.*?)</script>',
        read('.html'), re.S).group(1))


def tree():
    dom = read('.dom')
    # What scripts and data hold is no element.
    return Tree(re.sub(r'(<script[^>]*>).*?</script>', r'\1</script>', dom,
                       flags=re.S))


def data():
    found, want = embedded(), json.loads(read('.json'))
    return all(found[k] == v for k, v in want.items()) and 'lanes' in found


def text():
    pre = re.search('<pre>(.*?)</pre>', read('.html'), re.S).group(1)
    return html.unescape(pre) == read('.txt')


def table():
    """Each row of the page has the words of the text's row."""
    want = []
    lines = read('.txt').split('\n')
    start = [i for i, x in enumerate(lines) if x.startswith('  kind ')][0]
    for line in lines[start + 1:]:
        if not line.strip():
            break
        want.append(line[2:18].rstrip() + '|' +
                    re.sub(r'\s+', ' ', line[18:]).strip())
    got = [r for r in tree().tables['kinds'] if r]
    print(want, got)
    if len(want) != len(got):
        return False
    for row, line in zip(got, want):
        name, numbers = line.rsplit('|', 1)
        cells = [re.sub(r'\s+', ' ', c).strip() for c in row[1:]]
        shown = ' '.join(c for c in cells if c not in ('', '-'))
        if shown != ' '.join(x for x in numbers.split(' ') if x != '-') or \
                not row[0].strip().startswith(name.strip()):
            return False
    return True


def devices():
    """Each device of the page has the words of the text's row."""
    lines = read('.txt').split('\n')
    want = [re.split(r'\s{2,}', x.strip()) for x in lines
            if re.match(r'  d\d+ ', x)]
    got = [r for r in tree().tables.get('devices', []) if r]
    print(want, got)
    if len(want) != len(got) or \
            len(want) != len(json.loads(read('.json'))['devices']):
        return False
    return all(w[0] == 'd' + g[0].split()[0] and w[-1] == g[0].split('  ')[1]
               and w[1:9] == g[1:9] for w, g in zip(want, got))


def classes():
    lines, items = read('.txt').split('\n'), tree().items
    told = json.loads(read('.json'))
    for c in told['classes']:
        if c['id'] == 'caller' and not told['time']['caller']:
            if 'caller' in items:
                return False
            continue
        line = [x for x in lines if ('  ' + c['text']) in x][0]
        got = re.sub(r'\s+', ' ', items[c['id']])
        words = ['not recorded'] if c['lacks'] else \
            re.split(r'\s{2,}', line.strip())[:2]
        print(got, words)
        if not all(w in got for w in words):
            return False
    return True


def findings():
    report, titles = json.loads(read('.json')), tree().titles
    want = [f'{i + 1}. {f["title"]}' for i, f in enumerate(report['findings'])]
    print(want, titles)
    return want == [x for x in titles if x != 'Nothing outside of bodies']


def first():
    """The page alone: what costs most, and what to change."""
    card = tree().cards[0]
    print(card)
    return re.match(r'[0-9.]+ %of worker time', card['cost']) and \
        re.match(r'1\. ', card['title']) and card['why'] and \
        sys.argv[3] in card['title'] and sys.argv[4] in card['fix']


def fine():
    cards = tree().cards
    print(cards)
    return cards[0]['title'] == 'Nothing outside of bodies' and \
        'No cause' in cards[0]['why'] and \
        all(x['cost'] == 'bound' for x in cards[1:])


def flame():
    """Bars of each sort of stacks: the widths of a depth are at most the whole,
    and each is the part that its callers have of all stacks."""
    want, got = [], []
    for sort in ('runs', 'sleeps'):
        stacks = [s for s in json.loads(read('.json'))['stacks']
                  if s['sort'] == sort]
        total, bars = sum(s['count'] for s in stacks), {}
        for s in stacks:
            path = (s['kind'] or 'no body',)
            for name in [None] + s['callers'][::-1]:
                path += (name,) if name else ()
                bars[path] = bars.get(path, 0) + s['count']
        want += [(p[-1], len(p) - 1, n, round(100 * n / total, 2))
                 for p, n in bars.items()]
    for tag, a in tree().tags:
        found = tag == 'span' and re.fullmatch(
            r'(.*): ([0-9]*) stacks, .*', a.get('title', ''), re.S)
        if found:
            style = dict(x.strip().split(': ') for x in
                         a['style'].rstrip(';').split(';'))
            got.append((found[1], int(style['top'][:-2]) // 22,
                        int(found[2]), round(float(style['width'][:-1]), 2)))
    print(sorted(want), sorted(got))
    return len(want) > 3 and sorted(want) == sorted(got)


def draws():
    a = [a for tag, a in tree().tags if tag == 'html'][0]
    print(a)
    return 0 < int(a['data-draws']) <= int(a['data-cells'])


def names():
    tags = tree().tags
    bad = [t for t in tags if t[0] in ('img', 'iframe', 'object', 'link') or
           any(k.startswith('on') for k in t[1])]
    print(bad)
    return not bad and sum(t[0] == 'script' for t in tags) == 2 and \
        '\u202e' not in read('.html')


def policy():
    page = read('.html')
    allowed = re.search(r'Content-Security-Policy" content="([^"]*)"',
                        page).group(1)
    style = re.search('<style>(.*?)</style>', page, re.S).group(1)
    script = re.findall('<script>(.*?)</script>', page, re.S)
    want = [base64.b64encode(hashlib.sha256(x.encode()).digest()).decode()
            for x in (style, script[0])]
    print(allowed, want)
    return allowed == (f"default-src 'none'; style-src 'sha256-{want[0]}'; "
                       f"script-src 'sha256-{want[1]}'; img-src data:") and \
        len(script) == 1 and 'http:' not in page.replace(
            'http://www.w3.org/2000/svg', '') and 'https:' not in page


def looks():
    """In the window that was asked for; what looks.js says."""
    a = [a for tag, a in tree().tags if tag == 'html'][0]
    found = json.loads(a['data-looks'])
    print(found)
    assert found['dark'] == (sys.argv[3] == 'dark'), 'another scheme'
    assert found['window'] == int(sys.argv[4]), 'another width'
    assert found['texts'] > 20, 'hardly a text'
    return found


def fits():
    """Nothing has to be scrolled from side to side."""
    found = looks()
    return found['width'] <= found['room'] <= found['window']


def contrast():
    """As WCAG 2 asks of text of any size, level AA."""
    return looks()['least'] >= 4.5


sys.exit(not {f.__name__: f for f in (
    data, text, table, devices, classes, findings, first, fine,
    flame, draws, names, policy, fits, contrast)}[sys.argv[1]]())
