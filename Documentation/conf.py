# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Sphinx: these pages and the headers as HTML, by "make html". The pages stay what
docutils and the hosts of repositories read: links to other pages become links to
their HTML here, links to other files of the tree lead to copies, the order of the
index is the order of next and previous, and the reference is made of the comments
in the headers.
"""
import os
import re
import shutil

from docutils import nodes

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)


def version_of(name):
    with open(os.path.join(TOP, 'Makefile'), encoding='utf-8') as f:
        return re.search(rf'^{name} := (\S+)', f.read(), re.M).group(1)


project = 'lkdf'
author = copyright = 'the lkdf authors'
release = version = version_of('VERSION')
html_theme = 'classic'
html_theme_options = {'stickysidebar': True, 'sidebarwidth': 260,
                      'body_max_width': 900}
html_title = f'lkdf {version}'
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
highlight_language = 'none'
exclude_patterns = ['examples', 'schema']
smartquotes = False

LINK = re.compile(r'<([a-z0-9/._-]+)\.rst(?:#[^>]*)?>`_')
DOC = re.compile(r'^/\*\*\n \* ((?:[a-z]+ )?\w+)(?:\(\))? - .*?\*/\n(.*?;\n|#define .*?\n)',
                 re.M | re.S)


def headers():
    folder = os.path.join(TOP, 'lib/include/lkdf')
    return sorted(f for f in os.listdir(folder) if f.endswith('.h'))


def reference_of(header):
    """A page of a header: a section for each of its comments."""
    with open(os.path.join(TOP, 'lib/include/lkdf', header),
              encoding='utf-8') as f:
        text = f.read()
    out = [f'lkdf/{header}', '=' * (5 + len(header)), '']
    for m in DOC.finditer(text):
        out += [m.group(1), '-' * len(m.group(1)), '', '.. code-block:: c', '']
        out += ['\t' + line for line in m.group(0).splitlines()] + ['']
    return '\n'.join(out) if len(out) > 3 else ''


def write_reference(app):
    """Pages below reference/, as Sphinx has no reader of kernel-doc."""
    folder = os.path.join(app.srcdir, 'reference')
    os.makedirs(folder, exist_ok=True)
    names = []
    for header in headers():
        page = reference_of(header)
        if page:
            names.append(header[:-2])
            with open(os.path.join(folder, names[-1] + '.rst'), 'w',
                      encoding='utf-8') as f:
                f.write(page)
    with open(os.path.join(folder, 'index.rst'), 'w', encoding='utf-8') as f:
        f.write('Reference\n=========\n\nThe comments of the headers, each call '
                'with its arguments, owners and errors.\n\n.. toctree::\n\n')
        f.writelines(f'\t{name}\n' for name in names)


def add_order(app, docname, source):
    """The index names all pages; Sphinx wants that as a toctree."""
    if docname == 'index':
        order = list(dict.fromkeys(LINK.findall(source[0])))
        source[0] += '\n\n.. toctree::\n\t:hidden:\n\n' + ''.join(
            f'\t{name}\n' for name in order + ['reference/index'])


def lead_links(app, doctree, docname):
    """Links of the sources to pages become links to HTML, others to copies."""
    folder = os.path.dirname(docname)
    for ref in doctree.findall(nodes.reference):
        uri, _, part = ref.get('refuri', '').partition('#')
        if not uri or ':' in uri:
            continue
        to = os.path.normpath(os.path.join(folder, uri))
        if to.endswith('.rst') and to[:-4] in app.env.found_docs:
            new = app.builder.get_relative_uri(docname, to[:-4])
        else:
            new = copied(app, docname, to)
        ref['refuri'] = new + ('#' + part if part else '')


def copied(app, docname, path):
    """The file of the tree at path from Documentation, beside the pages."""
    source = os.path.normpath(os.path.join(HERE, path))
    name = os.path.join('files', os.path.relpath(source, TOP))
    to = os.path.join(app.outdir, name)
    if os.path.isfile(source):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(source, to)
    elif not os.path.isdir(source):
        raise ValueError(f'{docname}: there is no {path}')
    return os.path.relpath(name, os.path.dirname(docname) or '.')


def setup(app):
    app.connect('builder-inited', write_reference)
    app.connect('source-read', add_order)
    app.connect('doctree-resolved', lead_links)
    return {'parallel_read_safe': True}
