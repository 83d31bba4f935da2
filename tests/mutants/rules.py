# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Mutants of a C file by rule: each changes one place of one function.

A mutant has a name that survives edits elsewhere in the file: the function,
the rule, the text that changes, and which one of equal texts it is.
"""

import re

# What only checks, or only says something, is no part of what the code does.
# ordered accesses are the order rule's; a call that is dropped is a statement.
NOT_DROPPED = re.compile(
    r"(check\w*|lock_assert\w*|assert|static_assert|_Static_assert|trace_\w+|"
    r"counter_add|a_pause|if|for|while|switch|return|sizeof)$"
)
WEAKER = {
    "seq_cst": ("acq_rel", "relaxed"),
    "acq_rel": ("acquire", "release"),
    "acquire": ("relaxed",),
    "release": ("relaxed",),
}
BOUNDS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def masked(text):
    """The text with blanks for comments, strings and the preprocessor."""
    token = re.compile(
        r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|"
        r"^[ \t]*#(?:\\\n|[^\n])*",
        re.S | re.M,
    )
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def functions(code):
    """(name, begin, end) of each body."""
    found = []
    for m in re.finditer(r"^\{\n(.*?)^\}", code, re.S | re.M):
        head = code[: m.start()].rstrip()
        start = max(head.rfind(";"), head.rfind("}"), head.rfind("\n\n")) + 1
        name = re.search(r"(\w+)\s*\(", head[start:])
        if name:
            found.append((name.group(1), m.start(1), m.end(1)))
    return found


def closing(code, at):
    """The index of the bracket that closes the one at that index."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if not depth:
            return i
    return -1


def in_checks(code):
    """Ranges of calls that only check."""
    ranges = []
    for m in re.finditer(r"\b(check|lock_assert_held|check_move|sizeof)\(", code):
        ranges.append((m.start(), closing(code, m.end() - 1)))
    return ranges


def conditions(code):
    for m in re.finditer(r"\bif \(", code):
        end = closing(code, m.end() - 1)
        inner = code[m.end() : end]
        yield "negate", m.end(), end, "!(" + inner + ")", code[m.start() : end + 1]


def statement_at(code, at):
    """The statement that begins there; None: there is none."""
    before = code[:at].rstrip()
    if not before or not (before[-1] in ";{})" or before.endswith("else")):
        return None
    end = re.compile(r"[;{}]").search(code, at)
    return code[at : end.end()] if end and end.group() == ";" else None


def rule_of(text):
    """Of a statement: drop for calls, store for members; None: neither."""
    call = re.match(r"(\w+)\(", text)
    if call:
        is_whole = text[closing(text, call.end() - 1) + 1 :] == ";"
        return "drop" if is_whole and not NOT_DROPPED.match(call[1]) else None
    is_store = re.match(r"[*\w\[\]().>-]*(->|\.)[\w\[\].>-]+ ([|&^+-]?=) ", text)
    is_count = re.match(r"[\w\[\]().>-]+(\+\+|--);$", text)
    return "store" if is_store or is_count else None


def statements(code):
    """Calls that are statements, and stores to members."""
    for m in re.finditer(r"^\t+(?=[^\s])", code, re.M):
        text = statement_at(code, m.end())
        rule = rule_of(text) if text else None
        if rule:
            yield rule, m.end(), m.end() + len(text), ";", text


def orders(code):
    for m in re.finditer(r"\ba_\w+\(", code):
        end = closing(code, m.end() - 1)
        for o in re.finditer(r"\b(seq_cst|acq_rel|acquire|release)\b", code[:end]):
            if o.start() < m.end():
                continue
            for weaker in WEAKER[o.group()]:
                text = code[m.start() : end + 1] + " -> " + weaker
                yield "order", o.start(), o.end(), weaker, text


def line_of(code, at):
    begin = code.rfind("\n", 0, at) + 1
    return code[begin : code.find("\n", at)].strip()


def operators(code):
    for m in re.finditer(r" (<=|>=|<|>|\+|-|&&|\|\|) ", code):
        op = m.group(1)
        if op in BOUNDS:
            rule, new = "bound", BOUNDS[op]
        elif op in "+-":
            rule, new = "plus", "-" if op == "+" else "+"
        else:
            rule, new = "and", "||" if op == "&&" else "&&"
        text = f"{op} -> {new}: {line_of(code, m.start(1))}"
        yield rule, m.start(1), m.end(1), new, text
    for m in re.finditer(r"(\+\+|--)", code):
        new = "--" if m.group() == "++" else "++"
        yield (
            "plus",
            m.start(),
            m.end(),
            new,
            f"{m.group()} -> {new}: {line_of(code, m.start())}",
        )
    for m in re.finditer(r"futex_wake\w*\([^;]*?, (INT_MAX)", code):
        yield "wake", m.start(1), m.end(1), "1", line_of(code, m.start())


RULES = {
    "negate": conditions,
    "drop": statements,
    "store": statements,
    "order": orders,
    "bound": operators,
    "plus": operators,
    "and": operators,
    "wake": operators,
}


class Mutant:
    """One change: text[begin:end] of the file becomes new."""

    def __init__(self, function, rule, begin, end, new, text):
        self.function, self.rule = function, rule
        self.begin, self.end, self.new = begin, end, new
        self.text = " ".join(text.split())
        self.name = self.first = self.last = None

    def apply(self, text):
        """The mutated file; lines keep their numbers."""
        gone = text[self.begin : self.end].count("\n") - self.new.count("\n")
        return text[: self.begin] + self.new + "\n" * gone + text[self.end :]


def mutants(path, text, wanted):
    """All mutants of the file by the wanted rules, in the file's order."""
    code = masked(text)
    aside = in_checks(code)
    seen, found = {}, []
    for function, begin, end in functions(code):
        body = code[begin:end]
        made = []
        for generator in dict.fromkeys(RULES[r] for r in wanted):
            made += [m for m in generator(body) if m[0] in wanted]
        for rule, b, e, new, what in sorted(made, key=lambda m: m[1]):
            m = Mutant(function, rule, begin + b, begin + e, new, what)
            if any(a <= m.begin <= z for a, z in aside):
                continue
            if rule == "negate":
                m.new = "!(" + text[m.begin : m.end] + ")"
            m.first = text.count("\n", 0, m.begin) + 1
            m.last = text.count("\n", 0, m.end) + 1
            key = f"{path} {function} {rule} {m.text}"
            seen[key] = seen.get(key, 0) + 1
            m.name = key + (f" [{seen[key]}]" if seen[key] > 1 else "")
            found.append(m)
    return sorted(found, key=lambda m: m.begin)
