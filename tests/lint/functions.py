#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Prints the functions that public headers declare: name, tab, file:line."""
import ctext

for path in ctext.files('lib/include', ends=('.h',)):
    for item in ctext.items(path, ctext.code(ctext.read(path))):
        name = item.call()[0]
        if name and not name.startswith('_') and not item.body:
            if not item.head.startswith(('typedef', 'static')):
                print(f'{name}\t{path}:{item.line}')
