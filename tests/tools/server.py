#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
Helper of test_server.sh: clients of the example server, which it starts and
ends. server.py PROGRAM ROOT SCENARIO; exit status 1 and a line that says why
when something is not as it should be. ROOT is an empty directory.
"""
import contextlib
import functools
import os
import socket
import subprocess
import sys
import threading
import time

LONG = b'nap 3600000\n'
PATIENCE = 60
program, root, scenario = sys.argv[1:]


@functools.lru_cache
def fnv(data):
    x = 2166136261
    for b in data:
        x = (x ^ b) * 16777619 & 0xffffffff
    return x


def same(got, want, what):
    if got != want:
        sys.exit(f'{what}: {got!r}, expected {want!r}')


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port), PATIENCE)
        self.file = self.socket.makefile('rb')

    def send(self, line):
        self.socket.sendall(line)

    def line(self):
        return self.file.readline()

    def ask(self, line):
        self.send(line)
        return self.line()

    def body(self, data, what):
        same(self.line(), b'ok %d %08x\n' % (len(data), fnv(data)), what)
        same(self.file.read(len(data)), data, what)

    def state(self):
        words = self.ask(b'state\n').split()
        return {k.decode(): int(v) for k, v in zip(words[::2], words[1::2])}

    def until(self, **want):
        """Asks until it is so."""
        end = time.monotonic() + PATIENCE
        while True:
            got = self.state()
            if all(got[k] == v for k, v in want.items()):
                return got
            if time.monotonic() > end:
                sys.exit(f'state {got}, expected {want}')
            time.sleep(0.01)

    def close(self):
        self.file.close()
        self.socket.close()


class Server:
    def __init__(self, *options, **popen):
        self.process = subprocess.Popen(
            [program, '--root', root, *options], stdout=subprocess.PIPE,
            **popen)
        first = self.process.stdout.readline()
        if not first.startswith(b'listening on 127.0.0.1:'):
            sys.exit(f'the server says {first!r}')
        self.port = int(first.split(b':')[1])

    def client(self):
        return Client(self.port)

    def end(self):
        self.process.terminate()
        last = self.process.stdout.read().decode()
        same(self.process.wait(PATIENCE), 0, 'exit status')
        words = last.replace(',', '').split()
        return {k: int(v) for k, v in zip(words[::2], words[1::2])}

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def server(*options, **popen):
    s = Server(*options, **popen)
    try:
        yield s
    finally:
        s.kill()


def write(name, data):
    with open(os.path.join(root, name), 'wb') as f:
        f.write(data)


def answers():
    data = bytes(i * 7 % 251 for i in range(200000))
    write('data', data)
    write('empty', b'')
    write('large', bytes(300000))
    write('.hidden', b'x')
    os.mkfifo(os.path.join(root, 'fifo'))
    os.mkdir(os.path.join(root, 'dir'))
    os.symlink('data', os.path.join(root, 'link'))
    with server('--max-size', '250000', '--deadline', '3600000') as s:
        c = s.client()
        c.send(b'echo hello\necho  two  \nfile data\nfile empty\necho \n')
        c.body(b'hello', 'echo')
        c.body(b' two  ', 'spaces')
        c.body(data, 'a file')
        c.body(b'', 'an empty file')
        c.body(b'', 'nothing to echo')
        same(c.ask(b'file none\n'), b'error No such file or directory\n',
             'no such file')
        same(c.ask(b'file large\n'), b'error File too large\n', 'large')
        for name in b'fifo', b'dir':
            same(c.ask(b'file %s\n' % name), b'error Invalid argument\n', name)
        same(c.ask(b'file link\n'),
             b'error Too many levels of symbolic links\n', 'a link')
        for bad in (b'', b'nonsense', b'file', b'file ', b'file ../data',
                    b'file /etc/passwd', b'file .hidden', b'nap', b'nap x',
                    b'nap -1', b'nap 99999999', b'file dir/x'):
            same(c.ask(bad + b'\n'), b'error Invalid argument\n', bad)
        same(c.ask(b'nap 1\n'), b'ok 0 %08x\n' % fnv(b''), 'a nap')
        same(c.ask(b'echo ' + b'x' * 1018 + b'\n')[:8], b'ok 1018 ', 'a line')
        c.file.read(1018)
        same(c.ask(b'x' * 1024), b'error Message too long\n', 'a long line')
        same(c.line(), b'', 'then it hangs up')
        c.close()
        same(s.end(), {'served': 7, 'failed': 5, 'late': 0, 'left': 0}, 'sums')


def many():
    data = os.urandom(30000)
    write('data', data)
    errors = []

    def run(port, i):
        try:
            c = Client(port)
            for j in range(25):
                text = b'client %d, %d' % (i, j)
                c.send(b'echo ' + text + b'\nfile data\n')
                c.body(text, 'echo')
                c.body(data, 'file')
            c.close()
        except (Exception, SystemExit) as e:
            errors.append(str(e))

    with server('--deadline', '3600000') as s:
        threads = [threading.Thread(target=run, args=(s.port, i))
                   for i in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        same(errors, [], 'errors')
        same(s.end(), {'served': 800, 'failed': 0, 'late': 0, 'left': 0},
             'sums')


def leave():
    with server('--deadline', '3600000') as s:
        watch = s.client()
        c = [s.client() for i in range(20)]
        for x in c:
            x.send(LONG)
        watch.until(running=8, waiting=12, clients=21)
        # Those that run are cancelled, and others take their places.
        for x in c[:10]:
            x.close()
        watch.until(running=8, waiting=2)
        for x in c[10:]:
            x.close()
        got = watch.until(running=0, waiting=0, clients=1)
        if not 8 <= got['left'] <= 20:
            sys.exit(f'{got["left"]} left')
        # In the middle of a line, and without one.
        half = s.client()
        half.send(b'echo ha')
        half.close()
        s.client().close()
        watch.until(clients=1)
        watch.send(b'echo on\n')
        watch.body(b'on', 'others go on')
        s.end()


def late():
    with server('--deadline', '100') as s:
        c = s.client()
        same(c.ask(LONG), b'error Timer expired\n', 'past the deadline')
        others = [s.client() for i in range(12)]
        for x in others:
            x.send(LONG)
        for x in others:
            same(x.line(), b'error Timer expired\n', 'twelve of them')
        got = c.until(running=0, waiting=0, late=13)
        same(got['left'], 0, 'nobody left')
        same(s.end()['late'], 13, 'late')
    with server('--deadline', '3600000') as s:
        c = s.client()
        c.send(b'echo on\n')
        c.body(b'on', 'one that is in time')


def slow():
    data = os.urandom(8 << 20)
    write('data', data)
    with server('--max-size', str(8 << 20), '--deadline', '3600000') as s:
        reader, leaver, other = s.client(), s.client(), s.client()
        reader.send(b'file data\n')
        leaver.send(b'file data\n')
        leaver.line()
        other.send(b'echo meanwhile\n')
        other.body(b'meanwhile', 'others go on')
        leaver.close()
        other.until(clients=2)
        same(reader.line()[:3], b'ok ', 'the slow one')
        same(reader.file.read(len(data)), data, 'gets it all')


def busy():
    with server('--clients', '2', '--deadline', '3600000') as s:
        a, b = s.client(), s.client()
        a.until(clients=2)
        same(s.client().line(), b'error busy\n', 'a third one')
        b.close()
        a.until(clients=1)
        c = s.client()
        c.send(b'echo in\n')
        c.body(b'in', 'one in its place')


def stop():
    with server('--deadline', '3600000') as s:
        watch = s.client()
        c = [s.client() for i in range(10)]
        for x in c:
            x.send(LONG)
        watch.until(running=8, waiting=2)
        same(s.end(), {'served': 0, 'failed': 0, 'late': 0, 'left': 8}, 'sums')
        for x in c + [watch]:
            same(x.line(), b'', 'it hangs up')


def calls():
    """What an answer costs: the library of $COUNT_CALLS counts the calls."""
    nr = 50
    write('data', bytes(1000))
    with server('--deadline', '3600000', stderr=subprocess.PIPE,
                env={**os.environ,
                     'LD_PRELOAD': os.environ['COUNT_CALLS']}) as s:
        c = s.client()
        for i in range(nr):
            c.send(b'echo hello\n')
            c.body(b'hello', 'echo')
            c.send(b'file data\n')
            c.body(bytes(1000), 'file')
        c.close()
        s.end()
        words = s.process.stderr.read().decode().split()
    got = {k: int(v) for k, v in zip(words[::2], words[1::2])}
    same(got['send'], 0, 'answers that need a call for the head')
    same(got['sendmsg'], 2 * nr, 'a call for each answer')
    same(got['nodelay'], 1, 'clients whose answers TCP does not hold back')
    # The listener, the signals, the client, and the end of each run.
    same(got['ctl'], 3 + 2 * nr, 'changes of what epoll watches')
    # A line and the end of its run; the client comes and goes, SIGTERM.
    if got['wait'] > 4 * nr + 4 or got['recv'] > 2 * nr + 1:
        sys.exit(f'too many calls: {got}')


{f.__name__: f for f in
 (answers, many, leave, late, slow, busy, stop, calls)}[scenario]()
