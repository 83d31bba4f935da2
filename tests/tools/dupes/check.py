#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Helper of test_dupes.sh: makes trees, and says by SHA-256 what is equal.

  check.py make DIR           a tree with every kind of file
  check.py many DIR           100,000 entries, 500 pairs among them
  check.py deep DIR           a path longer than PATH_MAX, equal files in it
  check.py random DIR SEED    a tree of few sizes, with many near misses
  check.py sets DIR JSON      do the sets equal those of SHA-256?
  check.py totals DIR JSON    do the totals?
  check.py stable DIR JSON    is the set of the files called stable* there?
  check.py get JSON KEY       a value, "totals.sets"
  check.py same JSON JSON...  is all but the runtime's part the same?
  check.py errors JSON        has each counted error its path and reason?
  check.py change DIR SECONDS rewrites files called moving* over and over
  check.py terminal COMMAND.. runs it on a terminal for 3 s, interrupts it
  check.py memory COMMAND...  runs it, says its largest size in MiB
Exit status 1 and a line that says why when the answer is no.
"""
import hashlib
import json
import os
import pty
import random
import resource
import select
import signal
import socket
import stat
import subprocess
import sys
import time

PIECE = 1 << 20
HEAD = 16384


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def make_sizes(d, rng):
    """Around the borders of the head and of a piece: equal, and not quite."""
    for size in (1, 4096, HEAD - 1, HEAD, HEAD + 1, PIECE - 1, PIECE,
                 PIECE + 1, 2 * PIECE + 7):
        data = rng.randbytes(size)
        at = os.path.join(d, b"size%d" % size)
        write(at + b".a", data)
        write(at + b".b", data)
        # differs in the last byte, in the first, in the middle
        last = bytes([data[-1] ^ 1])
        write(at + b".last", data[:-1] + last)
        if size > 1:
            write(at + b".first", bytes([data[0] ^ 1]) + data[1:])
            write(at + b".last2", data[:-1] + last)


def make_names(d):
    """Names that would steer a terminal, or are no UTF-8."""
    names = (b"new\nline", b"esc\x1b[31mred", b"tab\tand\rreturn", b"quote\"",
             b"back\\slash", b"\xff\xfe", b"c1\xc2\x9b31m", b"\xed\xa0\x80",
             b"turn\xe2\x80\xaetxt.exe", "später €".encode(), b" ", b"-n")
    for name in names:
        write(os.path.join(d, name), b"the same in all odd names\n")


def make_special(d):
    os.mkfifo(os.path.join(d, b"fifo"))
    s = socket.socket(socket.AF_UNIX)
    at = os.getcwd()
    os.chdir(d)
    s.bind(b"socket")
    os.chdir(at)
    os.symlink(b".", os.path.join(d, b"loop"))
    os.symlink(b"..", os.path.join(d, b"up"))
    os.symlink(b"nowhere", os.path.join(d, b"dangling"))
    os.symlink(b"size1.a", os.path.join(d, b"link"))


def make(root):
    rng = random.Random(1)
    root = os.fsencode(root)
    sub = os.path.join(root, b"sub", b"deeper")
    os.makedirs(sub)
    make_sizes(root, rng)
    make_names(sub)
    make_special(root)
    for i in range(3):
        write(os.path.join(sub, b"empty%d" % i), b"")
    for i in range(20):
        write(os.path.join(root, b"unique%d" % i), b"u" * (5000 + i))
    # an inode of two names and no copy; one of three names and a copy
    write(os.path.join(root, b"hard1"), b"h" * 777)
    os.link(os.path.join(root, b"hard1"), os.path.join(sub, b"hard1"))
    write(os.path.join(root, b"hard2"), b"i" * 888)
    os.link(os.path.join(root, b"hard2"), os.path.join(sub, b"hard2"))
    os.link(os.path.join(root, b"hard2"), os.path.join(sub, b"hard2b"))
    write(os.path.join(sub, b"hard2copy"), b"i" * 888)


def many(root):
    for i in range(100000):
        with open(os.path.join(root, "f%06d" % i), "wb") as f:
            if i < 1000:
                f.write(b"pair %4d" % (i // 2))
            else:
                f.truncate(i)


def deep(root):
    name = "d" * 200
    data = b"at the bottom" * 1000
    write(os.path.join(root, "top"), data)
    fd = os.open(root, os.O_RDONLY)
    for i in range(100):
        os.mkdir(name, dir_fd=fd)
        down = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = down
    for at in ("bottom1", "bottom2"):
        out = os.open(at, os.O_WRONLY | os.O_CREAT, dir_fd=fd)
        os.write(out, data)
        os.close(out)
    os.close(fd)


def random_data(rng, size):
    """One of few contents of the size: equal but for a byte at some border."""
    data = bytearray(random.Random(size).randbytes(size))
    at = rng.choice((None, 0, HEAD - 1, HEAD, HEAD + PIECE // 4, size - 1))
    if at is not None and 0 <= at < size:
        data[at] ^= rng.choice((1, 2))
    return bytes(data)


def random_tree(root, seed):
    rng = random.Random(int(seed))
    sizes = [0, 1, 2, 77, HEAD - 1, HEAD, HEAD + 1] + [
        rng.randrange(3 * PIECE // 2) for _ in range(4)]
    dirs, files = [os.fsencode(root)], []
    for i in range(30):
        at = os.path.join(rng.choice(dirs), b"d%d" % i)
        os.mkdir(at)
        dirs.append(at)
    for i in range(300):
        at = os.path.join(rng.choice(dirs), b"f\n%d" % i)
        what = rng.randrange(20)
        if what == 0:
            os.mkfifo(at)
        elif what == 1:
            os.symlink(rng.choice(dirs), at)
        elif what == 2 and files:
            os.link(rng.choice(files), at)
        else:
            write(at, random_data(rng, rng.choice(sizes)))
            files.append(at)


def oracle(root):
    """Sets as {size: ..., files: [[paths of an inode]...]}, and totals."""
    n = dict.fromkeys(("files", "directories", "bytes", "empty", "symlinks",
                       "special", "hard_links", "unique_size"), 0)
    inodes, sizes, equal = {}, {}, {}
    for at, dirs, names in os.walk(os.fsencode(root)):
        n["directories"] += 1
        n["symlinks"] += sum(os.path.islink(os.path.join(at, x)) for x in dirs)
        for path in (os.path.join(at, x) for x in names):
            st = os.lstat(path)
            if stat.S_ISLNK(st.st_mode):
                n["symlinks"] += 1
            elif not stat.S_ISREG(st.st_mode):
                n["special"] += 1
            else:
                n["files"] += 1
                n["bytes"] += st.st_size
                n["empty"] += st.st_size == 0
                key = (st.st_size, st.st_dev, st.st_ino)
                inodes.setdefault(key, []).append(path)
    for key, paths in inodes.items():
        if key[0]:
            n["hard_links"] += len(paths) - 1
            sizes.setdefault(key[0], []).append(sorted(paths))
    for size, copies in sizes.items():
        n["unique_size"] += len(copies) == 1
        for paths in copies:
            with open(paths[0], "rb") as f:
                digest = hashlib.sha256(f.read()).digest()
            equal.setdefault((size, digest), []).append(paths)
    sets = [(size, sorted(copies)) for (size, _), copies in equal.items()
            if len(copies) > 1]
    n["sets"] = len(sets)
    n["waste"] = sum(size * (len(copies) - 1) for size, copies in sets)
    return sets, n


def load(path):
    with open(path, "rb") as f:
        return json.loads(f.read())


def found(result):
    for s in result["sets"]:
        copies = [[os.fsencode(x) for x in [f["path"]] + f["links"]]
                  for f in s["files"]]
        yield s["size"], copies, s["waste"]


def check_sets(root, path):
    want, _ = oracle(root)
    got = list(found(load(path)))
    waste = [w for _, _, w in got]
    for size, copies, w in got:
        if w != size * (len(copies) - 1):
            return "waste %d of %d copies of %d" % (w, len(copies), size)
    if waste != sorted(waste, reverse=True):
        return "the largest waste does not come first"
    missing = [x for x in want if x not in [g[:2] for g in got]]
    more = [g for g in got if g[:2] not in want]
    if missing or more or len(got) != len(want):
        return "missing %.300r, too many %.300r" % (missing, more)
    return None


def check_totals(root, path):
    _, want = oracle(root)
    got = load(path)["totals"]
    bad = {k: (got.get(k), v) for k, v in want.items() if got.get(k) != v}
    return "got, expected: %r" % bad if bad else None


def check_stable(root, path):
    want = sorted(os.path.join(os.fsencode(root), x)
                  for x in os.listdir(os.fsencode(root))
                  if x.startswith(b"stable"))
    sets = [sorted(p for copy in copies for p in copy)
            for _, copies, _ in found(load(path))]
    here = [s for s in sets if any(x in s for x in want)]
    return None if here == [want] else "got %.300r" % here


def get(path, key):
    value = load(path)
    for part in key.split("."):
        value = value[part]
    print(json.dumps(value))


def without_runtime(path):
    result = load(path)
    del result["runtime"]
    return result


def same(first, *others):
    want = without_runtime(first)
    for path in others:
        got = without_runtime(path)
        for part, value in want.items():
            if got[part] != value:
                return "%s: %s differs: %.200r, %.200r" % (
                    path, part, got[part], value)
    return None


def errors(path):
    result = load(path)
    n = result["totals"]
    counted = n["unreadable"] + n["vanished"] + n["changed"]
    told = result["errors"]
    if not all(e["path"] and e["error"] for e in told):
        return "without path or reason: %.300r" % told
    if len(told) != counted:
        return "%d counted, %d told" % (counted, len(told))
    return None


def replace(path, what):
    """By something that is no file any more."""
    if os.path.lexists(path):
        os.unlink(path)
    if what == 4:
        os.mkfifo(path)
    else:
        os.symlink("stable1", path)


def change(root, seconds):
    """Grows, truncates, replaces and removes the files called moving*."""
    rng = random.Random(2)
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        path = os.path.join(root, "moving%d" % rng.randrange(16))
        what = rng.randrange(6)
        if what >= 4:
            replace(path, what)
        elif not os.path.isfile(path) or os.path.islink(path):
            if os.path.lexists(path):
                os.unlink(path)
            write(path, b"m" * (2 * PIECE))
        elif what == 0:
            with open(path, "ab") as f:
                f.write(b"more")
        elif what == 1:
            with open(path, "ab") as f:
                f.truncate(rng.randrange(3 * PIECE))
        elif what == 2:
            write(path + ".new", b"m" * (2 * PIECE))
            os.rename(path + ".new", path)
        elif os.path.exists(path):
            os.unlink(path)


def terminal(command):
    """What it writes on the terminal that is its stderr."""
    ours, theirs = pty.openpty()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    end = time.monotonic() + 3
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.1)[0]:
            text += os.read(ours, 4096)
    p.send_signal(signal.SIGINT)
    try:
        while True:
            part = os.read(ours, 4096)
            if not part:
                break
            text += part
    except OSError:
        pass
    p.wait()
    sys.stdout.buffer.write(text.replace(b"\r", b"\n"))


def memory(command):
    rc = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
    return "exit status %d" % rc if rc else None


def main():
    sub = {"make": make, "many": many, "deep": deep, "sets": check_sets,
           "totals": check_totals, "stable": check_stable, "get": get,
           "change": change, "random": random_tree, "same": same,
           "errors": errors}
    verb, args = sys.argv[1], sys.argv[2:]
    if verb in ("terminal", "memory"):
        why = {"terminal": terminal, "memory": memory}[verb](args)
    else:
        why = sub[verb](*args)
    if why:
        print("# " + why)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
