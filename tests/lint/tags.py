#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
No struct, union or enum of lib and tools has the name of one of the C library
or the kernel: a later release of the C library may define it in a header that
our files include. It compares with the headers that this compiler finds for the
list below and for our own includes, and with all headers of the kernel: the C
library takes its new structs from there (glibc 2.41 took sched_attr). No
function has the name of one of the C library either: glibc 2.43 declares
call_once() of <threads.h> in <stdlib.h>.
"""
import glob
import os
import re
import subprocess
import sys

import ctext

DEFINED = re.compile(r'\b(struct|union|enum)\s+(\w+)\s*\{')
FUNCTION = re.compile(r'(?m)^[a-z_][\w \t*]*?\b([a-z]\w*)\([^;{}]*?\)\s*\{')
DECLARED = re.compile(r'\b([a-z]\w*)\s*\([^;{}]*\)[^;{}]*;')
INCLUDED = re.compile(r'(?m)^[ \t]*#[ \t]*include[ \t]*<([^>+]+\.h)>')
# What POSIX and glibc have; those that are absent are left out.
LIBC = '''
aio argp arpa/inet assert complex ctype dirent dlfcn elf endian envz errno error
execinfo fcntl fenv features fmtmsg fnmatch fstab ftw getopt glob grp iconv
ifaddrs inttypes langinfo libgen limits link locale malloc math mntent monetary
mqueue net/if netdb netinet/in netinet/ip netinet/tcp nl_types obstack poll
printf pthread pty pwd regex resolv sched search semaphore setjmp shadow signal
spawn stdio stdlib string strings sys/acct sys/auxv sys/epoll sys/eventfd
sys/fanotify sys/file sys/fsuid sys/inotify sys/io sys/ioctl sys/ipc sys/mman
sys/mount sys/msg sys/personality sys/pidfd sys/prctl sys/ptrace sys/quota
sys/random sys/resource sys/rseq sys/select sys/sem sys/sendfile sys/shm
sys/signalfd sys/single_threaded sys/socket sys/stat sys/statfs sys/statvfs
sys/swap sys/syscall sys/sysinfo sys/syslog sys/time sys/timerfd sys/times
sys/timex sys/types sys/ucontext sys/uio sys/un sys/user sys/utsname sys/wait
sys/xattr tar termios threads time uchar ucontext unistd utime utmp utmpx wchar
wctype wordexp
'''.split()


def fixed(text):
    """Code of a header: no comment, and no macro, which may have any name."""
    return ctext.without_directives(ctext.code(text))


def found_by_compiler(names):
    """Paths of the headers, and of all that they include."""
    text = ''.join('#if __has_include(<%s>)\n#include <%s>\n#endif\n' % (n, n)
                   for n in names)
    try:
        out = subprocess.run([os.environ.get('CC', 'cc'), '-D_GNU_SOURCE', '-M',
                              '-xc', '-'], input=text, text=True, check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        ctext.skip('no compiler is installed')
    except subprocess.CalledProcessError as e:
        sys.exit(e.stderr)
    return [w for w in out.stdout.split() if w.endswith('.h')]


def main():
    report = ctext.Report()
    ours = {p: ctext.read(p) for p in ctext.files('lib', 'tools')}
    included = {n for t in ours.values() for n in INCLUDED.findall(t)
                if not n.startswith('lkdf/')}
    paths = found_by_compiler(sorted({n + '.h' for n in LIBC} | included))
    for folder in 'linux', 'asm-generic':
        paths += glob.glob(f'/usr/include/{folder}/**/*.h', recursive=True)
    theirs, functions = {}, {}
    for path in found_by_compiler([n + '.h' for n in LIBC]):
        for m in DECLARED.finditer(fixed(ctext.read(path))):
            functions.setdefault(m.group(1), path)
    for path in paths:
        for m in DEFINED.finditer(fixed(ctext.read(path))):
            theirs.setdefault(m.group(2), path)
    for path, text in ours.items():
        for m in DEFINED.finditer(ctext.code(text)):
            if m.group(2) in theirs:
                report.say(path, ctext.line_of(text, m.start()),
                           f'{m.group(1)} {m.group(2)} is a name of '
                           f'{theirs[m.group(2)]}: rename it')
        for m in FUNCTION.finditer(ctext.code(text)):
            if m.group(1) in functions:
                report.say(path, ctext.line_of(text, m.start()),
                           f'{m.group(1)}() is a name of '
                           f'{functions[m.group(1)]}: rename it')
    report.end()


main()
