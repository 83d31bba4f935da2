#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
gcc's own programs for libgomp, from Debian's package gcc-N-source, with
liblkdf-gomp in libgomp's place: each one that libgomp passes has to pass. Speaks
TAP. suite.known lists those that do not pass yet, with the reason; one of them
that passes is a failure, so that the list can only shrink.

    suite.py                 all programs, about ten minutes on two cores
    suite.py NAME...         those whose path contains one of the words
    suite.py --share I/N     every N-th of them

BUILD names the folder with liblkdf-gomp.so (build). The compilers are gcc, g++ and
gfortran. Programs for an offload device are left out, and those that are only
compiled. Options and variables come from the programs' own dg- comments.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get('BUILD', 'build'))
LIBRARY = os.path.join(BUILD, 'liblkdf-gomp.so')
LIMIT = os.path.join(BUILD, 'tests', 'limit')
SECONDS = '120'
FOLDERS = (('libgomp.c', 'c'), ('libgomp.c-c++-common', 'c'),
           ('libgomp.c++', 'c++'), ('libgomp.c-c++-common', 'c++'),
           ('libgomp.fortran', 'fortran'))
COMPILERS = {'c': ['gcc', '-x', 'c'], 'c++': ['g++', '-x', 'c++'],
             'fortran': ['gfortran']}
ENDS = {'c': ('.c',), 'c++': ('.C', '.c'),
        'fortran': ('.f', '.F', '.f90', '.F90', '.f95', '.f03', '.F03')}
DIRECTIVE = re.compile(r'\{ *(dg-[a-z-]+) +(.*?) *\}\s*(?:\*/)?\s*$', re.M)
# Of the selectors of the programs: what is true on this machine.
TRUE_TARGETS = {'c': {'c'}, 'c++': {'c++'}, 'fortran': set()}
OFFLOAD = re.compile(r'omp\s+(target|declare\s+target|begin\s+declare\s+target)|'
                     r'omp_target_|\bacc\s', re.I)


class Program:
    """One program of the suite: how it is compiled and run."""

    def __init__(self, root, path, language):
        self.path, self.language = path, language
        self.name = os.path.relpath(path, root) + \
            (' as C++' if language == 'c++' and path.endswith('.c') else '')
        with open(path, errors='replace') as f:
            self.text = f.read()
        self.options, self.sources, self.env = ['-O2'], [], {}
        self.kind, self.fails, self.output = 'run', False, []
        for name, words in DIRECTIVE.findall(self.text):
            self.direct(name, words)

    def is_for_us(self, words):
        """Does the selector at the end of a directive choose this machine?"""
        m = re.search(r'\{ *target +(.*?) *\}*$', words)
        if not m:
            return True
        names = set(re.findall(r'[\w*+-]+', m.group(1)))
        if any(n.startswith('*-*-linux') for n in names) or names == {'*-*-*'}:
            return True
        with open('/proc/cpuinfo') as f:
            flags = f.read()
        if names == {'sse2_runtime'} or names == {'avx_runtime'}:
            return f' {names.pop()[:-8]} ' in flags
        return bool(names & TRUE_TARGETS[self.language])

    def direct(self, name, words):
        quoted = re.findall(r'"((?:[^"\\]|\\.)*)"', words)
        if name == 'dg-do':
            self.kind = words.split()[0] if self.is_for_us(words) else 'no'
        elif name in ('dg-options', 'dg-additional-options') and quoted:
            if self.is_for_us(words):
                self.options += quoted[0].split()
        elif name == 'dg-additional-sources' and quoted:
            self.sources += [os.path.join(os.path.dirname(self.path), s)
                             for s in quoted[0].split()]
        elif name == 'dg-set-target-env-var':
            plain = [w.strip('"') for w in re.findall(r'"[^"]*"|\S+', words)]
            self.env[plain[0]] = plain[1]
        elif name == 'dg-shouldfail':
            self.fails = True
        elif name == 'dg-output' and quoted:
            self.output.append(quoted[0])
        elif name == 'dg-require-effective-target' and \
                words.startswith('offload'):
            self.kind = 'no'

    def is_ours(self):
        return self.kind == 'run' and not OFFLOAD.search(self.text)

    def compile(self, folder):
        """None, or what the compiler said."""
        out = os.path.join(folder, 'program')
        command = COMPILERS[self.language] + ['-fopenmp', '-w'] + self.options
        command += ['-I', os.path.dirname(self.path), '-o', out, self.path]
        command += self.sources + ['-lm', '-latomic']
        done = subprocess.run(command, cwd=folder, capture_output=True,
                              text=True, errors='replace', check=False)
        return done.stderr if done.returncode else None

    def run(self, folder, library):
        """None, or how it failed."""
        env = {k: v for k, v in os.environ.items() if not k.startswith('OMP_')}
        env.update(self.env)
        if library:
            env['LD_PRELOAD'] = library
        done = subprocess.run([LIMIT, SECONDS, './program'], cwd=folder,
                              env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True,
                              errors='replace', check=False)
        text = done.stdout + done.stderr
        if bool(done.returncode) != self.fails:
            return f'exit status {done.returncode}\n{text[-400:]}'
        for want in self.output:
            if self.is_plain(want) and not re.search(want, text):
                return f'"{want}" is not in its output\n{text[-400:]}'
        return None

    @staticmethod
    def is_plain(pattern):
        """Tcl's regular expressions are nearly Python's."""
        try:
            re.compile(pattern)
        except re.error:
            return False
        return True


def judge(program):
    """(verdict, text): pass, fail, or what there is nothing to judge by."""
    folder = tempfile.mkdtemp(prefix='lkdf-suite-')
    try:
        said = program.compile(folder)
        if said is not None:
            return 'skip', 'does not compile: ' + said.strip()[:100]
        said = program.run(folder, None)
        if said:
            return 'skip', 'libgomp itself fails: ' + said[:60]
        said = program.run(folder, LIBRARY)
        return ('fail', said) if said else ('pass', '')
    finally:
        shutil.rmtree(folder)


def suite_of(into):
    """The folder libgomp/testsuite, unpacked; None: no package has it."""
    tars = sorted(glob.glob('/usr/src/gcc-*/gcc-[0-9]*.tar.*'))
    if not tars:
        return None
    with tarfile.open(tars[-1]) as tar:
        for member in tar:
            if '/libgomp/testsuite/libgomp.' in member.name and \
                    member.isfile() and 'oacc' not in member.name:
                tar.extract(member, into)
    return glob.glob(os.path.join(into, '*/libgomp/testsuite'))[0]


def known_failures():
    known = {}
    with open(os.path.join(HERE, 'suite.known')) as f:
        for line in f:
            if line.strip() and not line.startswith('#'):
                name, reason = line.rstrip('\n').split('\t', 1)
                known[name] = reason.strip()
    return known


def programs_of(root, share):
    found = []
    for folder, language in FOLDERS:
        if not shutil.which(COMPILERS[language][0]):
            continue
        for path in sorted(glob.glob(os.path.join(root, folder, '**', '*'),
                                     recursive=True)):
            if path.endswith(ENDS[language]) and not (
                    folder == 'libgomp.c++' and path.endswith('.c')):
                found.append(Program(root, path, language))
    part, parts = (int(w) for w in share.split('/'))
    return [p for p in found if p.is_ours()][part::parts]


def say(number, program, verdict, text, known):
    """One line of TAP. True: the program is as it should be."""
    name = program.name
    if verdict == 'skip':
        print(f'ok {number} - {name} # SKIP {" ".join(text.split())}')
        return True
    is_known = name in known
    is_right = verdict == 'pass' and (not is_known or known[name][0] == '?')
    if is_right:
        print(f'ok {number} - {name}')
    elif verdict == 'fail' and is_known:
        print(f'ok {number} - {name} # SKIP known: {known[name]}')
    else:
        print(f'not ok {number} - {name}')
        print('# it passes now: take it out of suite.known'
              if verdict == 'pass' else
              '\n'.join('# ' + line for line in text.splitlines()))
    sys.stdout.flush()
    return is_right or is_known and verdict == 'fail'


def main():
    words = sys.argv[1:]
    share = os.environ.get('SUITE_SHARE', '0/1')
    if '--help' in words or '-h' in words:
        print(__doc__.strip())
        return 0
    if words[:1] == ['--share'] and len(words) > 1:
        share, words = words[1], words[2:]
    if not os.path.exists(LIBRARY):
        print(f'1..0 # SKIP there is no {LIBRARY}')
        return 0
    with tempfile.TemporaryDirectory(prefix='lkdf-suite-') as top:
        root = suite_of(top)
        if not root:
            print('1..0 # SKIP no package gcc-N-source: .ci/deps more')
            return 0
        programs = [p for p in programs_of(root, share)
                    if not words or any(w in p.name for w in words)]
        known, nr_bad = known_failures(), 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            ends = pool.map(judge, programs)
            for number, (program, end) in enumerate(zip(programs, ends), 1):
                nr_bad += not say(number, program, *end, known)
    print(f'1..{len(programs)}')
    return nr_bad != 0


if __name__ == '__main__':
    sys.exit(main())
