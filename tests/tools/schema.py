#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
schema.py SCHEMA FILE...: is each file what the JSON Schema says? Knows the words
that Documentation/schema uses, and refuses others.
"""
import json
import sys

TYPES = {'null': type(None), 'boolean': bool, 'number': (int, float),
         'string': str, 'array': list, 'object': dict}
WORDS = {'$schema', 'title', 'type', 'const', 'required', 'properties',
         'additionalProperties', 'items', 'enum'}


def is_type(value, name):
    if name == 'number' and isinstance(value, bool):
        return False
    return isinstance(value, TYPES[name])


def faults(value, schema, at):
    unknown = set(schema) - WORDS
    if unknown:
        yield '%s: unknown words %s' % (at, sorted(unknown))
    if 'const' in schema and value != schema['const']:
        yield '%s: %r is not %r' % (at, value, schema['const'])
    if 'enum' in schema and value not in schema['enum']:
        yield '%s: %r is none of %s' % (at, value, schema['enum'])
    types = schema.get('type', [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        yield '%s: %r is no %s' % (at, value, ' or '.join(types))
    if isinstance(value, dict):
        yield from object_faults(value, schema, at)
    if isinstance(value, list):
        for i, x in enumerate(value):
            yield from faults(x, schema.get('items', {}), '%s[%d]' % (at, i))


def object_faults(value, schema, at):
    known = schema.get('properties', {})
    for key in schema.get('required', []):
        if key not in value:
            yield '%s: no %s' % (at, key)
    for key, x in value.items():
        if key in known:
            yield from faults(x, known[key], at + '.' + key)
        elif schema.get('additionalProperties', True) is False:
            yield '%s: %s is not in the schema' % (at, key)
        elif isinstance(schema.get('additionalProperties'), dict):
            yield from faults(x, schema['additionalProperties'], at + '.' + key)


def main():
    with open(sys.argv[1], encoding='utf-8') as f:
        schema = json.load(f)
    bad = []
    for name in sys.argv[2:]:
        with open(name, encoding='utf-8') as f:
            bad += list(faults(json.load(f), schema, name))
    print('\n'.join(bad[:20]))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
