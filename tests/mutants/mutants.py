#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Changes a file of lib at one place at a time, by rule, and runs the tests
that execute the place: which changes does no test notice?

A change that no test can notice stands in the list of equivalents, with a
reason. Any other that survives is a test that is missing. Speaks TAP; results
are kept in BUILD/mutants, so that a run goes on where the last one has ended.
See Documentation/internals/testing.rst.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rules  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
HERE = os.path.dirname(os.path.abspath(__file__))
# Of a scenario of the model checker.
MODEL = ["--seconds", "1", "--limit", "20000"]
STATES = ("killed", "survived", "not run", "same", "broken")


def run(command, seconds, env=None, out=subprocess.DEVNULL):
    """The exit status; 124: it hung, and its processes have ended."""
    p = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        env=env,
        start_new_session=True,
    )
    try:
        return p.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        return 124


def commands(path, targets):
    """How make builds the targets when only the file has changed."""
    make = shlex.split(os.environ.get("MAKE", "make"))
    text = subprocess.run(
        [*make, "-n", "-W", path, *targets],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout
    return re.sub(r"\\\n\s*", " ", text).split("\n")


def command_to(lines, output):
    """The words of the one that makes that file."""
    for line in lines:
        if f" -o {output} " in line + " ":
            return shlex.split(line)
    return None


def with_words(words, change):
    return [change.get(w, w) for w in words]


class Program:
    """A test that can be run with a mutated object."""

    def __init__(self, path):
        self.path = path
        self.seconds = 0.0
        self.lines = None  # of the file, that it executes; None: unknown
        self.kills = 0

    def name(self):
        return os.path.relpath(self.path, BUILD)


class Api(Program):
    """Links the shared library."""

    def build(self, _, work):
        return True

    def command(self, work):
        return [self.path]


class Linked(Program):
    """Has the object in itself: tests of units, models."""

    def __init__(self, path, source, lines, obj, options):
        super().__init__(path)
        self.compile = command_to(lines, obj)
        self.link = command_to(lines, path)
        self.source, self.obj, self.options = source, obj, options
        self.is_model = "/mc/" in path

    def build(self, mutated, work):
        """False: it does not link."""
        own = os.path.join(work, os.path.basename(self.path))
        words = self.link
        if self.is_model:
            obj = own + ".o"
            cc = with_words(self.compile, {self.source: mutated, self.obj: obj})
            if subprocess.run([*cc, "-w"], stderr=subprocess.DEVNULL).returncode:
                return False
            words = with_words(words, {self.obj: obj, self.path: own})
        else:
            # Before the archive, whose own object is not taken then.
            at = next(i for i, w in enumerate(words) if w.endswith(".a"))
            words = [*words[:at], os.path.join(work, "lib.o"), *words[at:]]
            words = with_words(words, {self.path: own})
        rc = subprocess.run([*words, "-w"], stderr=subprocess.DEVNULL).returncode
        return not rc

    def command(self, work):
        return [os.path.join(work, os.path.basename(self.path)), *self.options]


class Bench:
    """A file, how it is built, and the programs that test it."""

    def __init__(self, args):
        self.args = args
        self.path = args.file
        self.obj = f"{BUILD}/{self.path[:-2]}.o"
        self.so = os.path.realpath(f"{BUILD}/liblkdf.so")
        self.so = os.path.relpath(self.so)
        self.top = os.path.abspath(
            f"{BUILD}/mutants/{self.path[:-2].replace('/', '_')}"
        )
        self.programs = []
        self.lock = threading.Lock()
        linked = self.find_programs()
        lines = commands(self.path, [self.so, *(x[0] for x in linked)])
        for x in linked:
            self.add_linked(lines, *x)
        self.compile = command_to(lines, self.obj)
        self.link = command_to(lines, self.so)
        if not self.compile or not self.link:
            sys.exit(f"{self.path}: make does not compile it into {self.so}")

    def work(self, name):
        work = os.path.join(self.top, name)
        os.makedirs(os.path.join(work, os.path.dirname(self.path)), exist_ok=True)
        return work

    def object(self, source, output, *flags):
        change = {self.path: source, self.obj: output}
        words = [*with_words(self.compile, change), "-w", "-g0", *flags]
        return not subprocess.run(words, stderr=subprocess.DEVNULL).returncode

    def library(self, obj, work, *flags):
        own = os.path.join(work, "liblkdf.so.0")
        words = with_words(self.link, {self.obj: obj, self.so: own})
        subprocess.run([*words, "-Wl,-s", *flags], check=True)

    def find_programs(self):
        """Those that link the shared library; (path, object, options) of others."""
        linked = []
        for path in self.args.programs:
            if "/mc/" in path:
                linked.append((path, f"{BUILD}/mc/{self.path[:-2]}.o", MODEL))
            elif "/unit/" in path:
                linked.append((path, self.obj, []))
            else:
                self.programs.append(Api(path))
        return linked

    def add_linked(self, lines, path, obj, options):
        program = Linked(path, self.path, lines, obj, options)
        if program.link and program.compile:
            self.programs.append(program)

    def environment(self, work):
        env = dict(os.environ)
        for word in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
            env.pop(word, None)
        env.update(
            LD_LIBRARY_PATH=work,
            HANG_DEBUGGER="none",
            TAP_LIMIT=str(self.args.watch),
        )
        return env

    def covered(self, work):
        """The lines that were executed since the last call."""
        notes = os.path.join(work, "lib.gcda")
        if not os.path.exists(notes):
            return set()
        told = subprocess.run(
            ["gcov", "--json-format", "--stdout", "lib.gcda"],
            cwd=work,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        os.unlink(notes)
        lines = set()
        for f in json.loads(told.stdout or b'{"files": []}')["files"]:
            if f["file"].endswith(self.path):
                lines |= {x["line_number"] for x in f["lines"] if x["count"]}
        return lines

    def measure(self):
        """Which programs pass, how long they take, and what they execute."""
        work = self.work("plain")
        obj = os.path.join(work, "lib.o")
        flags = ["--coverage", "-fprofile-update=atomic"]
        has_lines = self.object(self.path, obj, *flags)
        self.library(obj, work, *(["--coverage"] if has_lines else []))
        env = self.environment(work)
        kept = []
        for p in self.programs:
            began = time.monotonic()
            if isinstance(p, Linked):
                rc = run([p.path, *p.options], 60, env)
            else:
                rc = run(p.command(work), 60, env)
            p.seconds = time.monotonic() - began
            if has_lines and isinstance(p, Api):
                p.lines = self.covered(work)
            if rc or p.seconds > self.args.slowest:
                print(f"# left out: {p.name()}, {p.seconds:.1f} s, status {rc}", flush=True)
            elif p.lines is None or p.lines:
                kept.append(p)
        self.programs = kept
        self.object(self.path, os.path.join(work, "same.o"))
        with open(os.path.join(work, "same.o"), "rb") as f:
            self.plain = f.read()

    def programs_for(self, m):
        span = set(range(m.first, m.last + 1))
        found = [
            p
            for p in self.programs
            if (p.lines is None or p.lines & span)
            and (m.rule != "order" or isinstance(p, Linked) and p.is_model)
        ]
        return sorted(found, key=lambda p: (-p.kills, p.seconds))

    def try_mutant(self, m, text, work):
        """(state, program)"""
        mutated = os.path.join(work, self.path)
        obj = os.path.join(work, "lib.o")
        with open(mutated, "w", encoding="utf-8") as f:
            f.write(m.apply(text))
        if not self.object(mutated, obj):
            return "broken", ""
        with open(obj, "rb") as f:
            if f.read() == self.plain:
                return "same", ""
        self.library(obj, work)
        env = self.environment(work)
        programs = self.programs_for(m)
        for p in programs:
            if not p.build(mutated, work):
                continue
            limit = self.args.watch + 5 + 3 * p.seconds
            if run(p.command(work), limit, env):
                with self.lock:
                    p.kills += 1
                return "killed", p.name()
        has_run = any(p.lines or isinstance(p, Linked) for p in programs)
        return ("survived" if has_run else "not run"), ""


class Results:
    """What is known of the file's mutants; a changed file begins anew."""

    def __init__(self, path, text, is_again):
        self.path = path
        self.known = {}
        self.head = "# " + hashlib.sha256(text.encode()).hexdigest() + "\n"
        old = open(path, encoding="utf-8").readlines() if os.path.exists(path) else []
        if old and old[0] == self.head:
            for line in old[1:]:
                state, by, name = line.rstrip("\n").split("\t")
                if not (is_again and state in ("survived", "not run")):
                    self.known[name] = (state, by)
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.head)
            for name, (state, by) in self.known.items():
                f.write(f"{state}\t{by}\t{name}\n")

    def add(self, name, state, by):
        self.known[name] = (state, by)
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(f"{state}\t{by}\t{name}\n")


def read_equivalents(path):
    """name -> reason, of this file."""
    found = {}
    with open(os.path.join(HERE, "equivalent"), encoding="utf-8") as f:
        for line in f:
            name, _, reason = line.rstrip("\n").partition(" # ")
            if name.startswith(path + " "):
                found[name] = reason
    return found


def run_all(bench, todo, text, results):
    end = time.monotonic() + bench.args.seconds
    free = [bench.work(f"w{i}") for i in range(bench.args.jobs)]

    def one(m):
        if time.monotonic() > end:
            return
        with bench.lock:
            work = free.pop()
        state, by = bench.try_mutant(m, text, work)
        with bench.lock:
            free.append(work)
            results.add(m.name, state, by)
            if bench.args.verbose:
                print(f"# {state} {by}: {m.name}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(bench.args.jobs) as pool:
        list(pool.map(one, todo))


def print_table(all_mutants, known, equivalents):
    rows = {}
    for m in all_mutants:
        row = rows.setdefault(m.function, dict.fromkeys([*STATES, "listed"], 0))
        state = known.get(m.name, (None,))[0]
        if state in ("survived", "not run") and m.name in equivalents:
            state = "listed"
        if state:
            row[state] += 1
    heads = ["killed", "survived", "not run", "listed", "same", "broken"]
    print("# " + "function".ljust(32) + "".join(h.rjust(10) for h in heads))
    for name, row in rows.items():
        print("# " + name.ljust(32) + "".join(str(row[h]).rjust(10) for h in heads))
    total = {h: sum(r[h] for r in rows.values()) for h in heads}
    print("# " + "all".ljust(32) + "".join(str(total[h]).rjust(10) for h in heads))


def tell(nr, text, bad):
    print(("not ok" if bad else "ok") + f" {nr} - {text}")
    for line in bad:
        print("#   " + line)
    return bool(bad)


def report(path, all_mutants, known, left):
    equivalents = read_equivalents(path)
    print_table(all_mutants, known, equivalents)
    names = {m.name for m in all_mutants}
    alive = [
        m.name
        for m in all_mutants
        if known.get(m.name, ("",))[0] in ("survived", "not run")
    ]
    killed = {n for n, k in known.items() if k[0] in ("killed", "same", "broken")}
    failed = tell(
        1,
        f"{path}: each mutant that survives has a reason",
        [f"{known[n][0]}: {n}" for n in alive if n not in equivalents],
    )
    failed |= tell(
        2,
        f"{path}: each mutant of the list survives",
        [n for n in equivalents if n in killed or n not in names],
    )
    if left:
        print(f"ok 3 - {path}: {left} mutants are left # SKIP the time is up")
    print(f"1..{3 if left else 2}")
    return failed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("file", help="lib/ROOM/NAME.c")
    p.add_argument("programs", nargs="*", help="tests, below BUILD")
    p.add_argument("--list", action="store_true", help="names only")
    p.add_argument("--rules", default="negate,drop,store,bound,plus,and,wake")
    p.add_argument("--only", default="", help="names that contain this")
    p.add_argument("--seconds", type=float, default=1800, help="for all")
    p.add_argument("--slowest", type=float, default=5, help="seconds of a test")
    p.add_argument("--watch", type=int, default=10, help="seconds of a hang")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--again", action="store_true", help="survivors once more")
    p.add_argument("--verbose", action="store_true")
    args = p.parse_args()
    with open(args.file, encoding="utf-8") as f:
        text = f.read()
    found = rules.mutants(args.file, text, args.rules.split(","))
    found = [m for m in found if args.only in m.name]
    if args.list:
        print("\n".join(m.name for m in found))
        return 0
    os.makedirs(f"{BUILD}/mutants", exist_ok=True)
    name = args.file[:-2].replace("/", "_")
    results = Results(f"{BUILD}/mutants/{name}.tsv", text, args.again)
    todo = [m for m in found if m.name not in results.known]
    if todo:
        bench = Bench(args)
        bench.measure()
        run_all(bench, todo, text, results)
    left = sum(m.name not in results.known for m in found)
    return int(report(args.file, found, results.known, left))


if __name__ == "__main__":
    sys.exit(main())
