#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
The schemas of Documentation/schema allow what the code writes, whether or not a
sample has it: each member that a call of json_text(), json_int() and so on
names is in the schema of its program, with the type of the call, and a schema
has no member and no type that no call writes. A schema that was made from
samples allowed only null for a text that no sample had.
"""
import json
import pathlib
import re
import sys

SCHEMAS = pathlib.Path('Documentation/schema')
# Files beside the one that writes the name of the schema
MORE = {
    'report': ['json_gains.c', 'json_probe.c', 'json_requests.c'],
    'bench': ['machine.c'],
}
# The text is written by printf() in the library, and tests/tools has samples
# of all its causes.
OTHERS = {'why', 'why_process', 'topo', 'topo_process', 'graph'}
TYPE = {'text': {'string'}, 'text_or_null': {'string', 'null'},
        'int': {'number'}, 'number': {'number', 'NaN'},
        'fixed': {'number', 'NaN'}, 'bool': {'boolean'}, 'null': {'null'}}
CALL = re.compile(r'\b(?:json_(text_or_null|text|int|number|fixed|bool|null'
                  r'|open|open_flat)|put_(?:size|time))\(\s*[^,"]+,\s*"([^"]+)"\s*(?:,\s*\'(.)\')?')
NAME = re.compile(r'"lkdf/(\w+)/1"')


def types_of(schema):
    if 'const' in schema or 'enum' in schema:
        return {'string'}
    got = schema.get('type', [])
    return {got} if isinstance(got, str) else set(got)


def members(schema):
    """(name, types) of all members, at any depth."""
    for name, sub in schema.get('properties', {}).items():
        yield name, types_of(sub)
        yield from members(sub)
    for word in 'items', 'additionalProperties':
        if isinstance(schema.get(word), dict):
            yield from members(schema[word])


def written(text):
    """{name: types} that calls with a name write."""
    out = {}
    for function, name, bracket in CALL.findall(text):
        types = TYPE.get(function or 'int') or {
            'object' if bracket == '{' else 'array'}
        out.setdefault(name, set()).update(types)
    return out


def compare(path, files, all_text):
    calls = written(''.join(f.read_text() for f in files))
    allowed = {}
    for name, types in members(json.loads(path.read_text())):
        allowed.setdefault(name, set()).update(types)
    for name, types in sorted(calls.items()):
        must = types - {'NaN'}  # it is null, where there may be one
        have = allowed.get(name)
        if have is None:
            yield f'{path}: no member "{name}", which {files[0]} writes'
        elif must - have:
            yield (f'{path}: "{name}" is {sorted(have)}, and {files[0]} '
                   f'writes {sorted(must)}')
        elif 'null' in have and not types & {'null', 'NaN'}:
            yield f'{path}: "{name}" may be null, and {files[0]} never writes it'
    for name in sorted(set(allowed) - set(calls)):
        if f'"{name}"' not in all_text:
            yield f'{path}: nobody writes "{name}"'


def main():
    writers = {}
    sources = {f: f.read_text() for f in sorted(pathlib.Path('tools').rglob('*.c'))}
    all_text = ''.join(sources.values())
    for f, text in sources.items():
        for name in NAME.findall(text):
            writers[name] = [f] + [f.parent / n for n in MORE.get(name, [])]
    bad = []
    for path in sorted(SCHEMAS.glob('*.json')):
        if path.stem in OTHERS:
            continue
        if path.stem not in writers:
            bad.append(f'{path}: nobody writes lkdf/{path.stem}/1')
        else:
            bad += compare(path, writers[path.stem], all_text)
    for name in sorted(set(writers) - {p.stem for p in SCHEMAS.glob('*.json')}):
        bad.append(f'{writers[name][0]}: no {SCHEMAS}/{name}.json')
    print('\n'.join(bad), end='\n' if bad else '')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
