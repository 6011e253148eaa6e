# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What one switch runs of a program: names resolved, windows, tasks, conflicts of its `++`."""
from fractions import Fraction

import mafia_packets

MASK64 = 2**64 - 1
ROLES = {1: "first_hop", 2: "intermediate", 3: "last_hop"}
KINDS = {"count-min": "cm", "store": "cm", "pcsa": "pcsa", "hyperloglog": "hll", "membership": "bf", "counting": "bf"}
OPERATIONS = {
    "Counter": {"set", "add", "reset"}, "Timestamp": {"reset"},
    "membership": {"insert", "set", "init", "test", "read", "reset"},
    "counting": {"set", "add", "init", "reset", "all", "any", "sum", "avg", "min", "max"},
    "count-min": {"set", "add", "reset", "sum", "avg", "min", "max"},
    "store": {"set", "reset", "all", "any", "sum", "avg", "min", "max"},
    "pcsa": {"update", "test", "reset"}, "hyperloglog": {"update", "test", "reset"},
}


class ProgramFault(Exception):
    pass


class Variable:
    """A piece of state: `alg` says what may be done with it, `kind` what it is called when printed."""

    def __init__(self, kind, alg, width, rows, size, key, evicts):
        self.kind, self.alg, self.width, self.rows, self.size, self.key = kind, alg, width, rows, size, key
        self.evicts = evicts
        self.cells = rows * size if kind == "cm" else size
        self.serialises = alg == "membership"
        self.single = kind in ("scalar", "map")


class Window:
    """Of the tasks of a role (`scope`; "": of the whole program), or of one task (`scope` is None)."""

    def __init__(self, scope, variables, duration, quantum, mode):
        self.scope, self.variables, self.duration, self.quantum, self.mode = scope, variables, duration, quantum, mode
        self.start = None
        self.cleared = None  # how many cells, while resetting


class Task:
    def __init__(self, scope, stream, window, step):
        self.scope, self.stream, self.window, self.step = scope, stream, window, step


def has_roles(items):
    return any(item[0] == "role" for item in items)


class Layout:
    """The part of a program that the switch with these roles has."""

    def __init__(self, items, roles, quantum=64):
        self.roles, self.quantum = roles, quantum
        self.values, self.keys, self.variables, self.endpoints = {}, {}, {}, []
        self.headers = []
        self.windows, self.tasks = [], []
        self.take(items, "")
        for task in self.tasks:
            self.check(task.step)

    def take(self, items, scope):
        declared, windows = [], []
        for item in items:
            kind = item[0]
            if kind in ("const", "param"):
                self.new(item[1])
                if item[2] is None:
                    raise ProgramFault("param %s is not bound" % item[1])
                self.values[item[1]] = self.constant(item[2])
            elif kind == "endpoint":
                self.endpoints += item[1]
            elif kind == "role":
                if item[1] in self.roles:
                    self.take(item[2], item[1])
            elif kind == "key":
                self.new(item[1])
                self.keys[item[1]] = item[2]
            elif kind == "var":
                self.new(item[1])
                self.variables[item[1]] = self.variable(item[2], item[3])
                declared.append(item[1])
            elif kind == "header":
                self.headers.append(item[1:])
            elif kind == "window":
                windows.append(item)
            else:
                self.task(item, scope)
        for window in windows:
            self.windows.append(self.window(window, scope, declared))

    def new(self, name):
        if name in self.values or name in self.keys or name in self.variables:
            raise ProgramFault("%s is declared twice" % name)

    def window(self, item, scope, variables):
        _, duration, quantum, mode = item
        return Window(scope, variables, self.constant(duration),
                      self.constant(quantum) if quantum else self.quantum, mode)

    def task(self, item, scope):
        _, stream, window, step = item
        if window:
            written = Effects(self).of(step).writes
            window = self.window(window, None, [name for name in self.variables if name in written])
        self.tasks.append(Task(scope, stream, window, step))

    def constant(self, expr):
        """The value of an expression without state or packet."""
        kind = expr[0]
        if kind in ("int", "decimal"):
            return expr[1]
        if kind == "name" and expr[1] in self.values:
            return self.values[expr[1]]
        if kind == "unary":
            return unary(expr[1], self.constant(expr[2]))
        if kind == "binary":
            return binary(expr[1], self.constant(expr[2]), self.constant(expr[3]))
        if kind in ("min", "max"):
            return (min if kind == "min" else max)(self.constant(expr[1]), self.constant(expr[2]))
        raise ProgramFault("%s is no constant" % (expr,))

    def variable(self, constructor, given):
        def value(name, otherwise):
            return self.constant(given[name]) if name in given else otherwise

        if constructor in ("Counter", "Timestamp"):
            width = value("width", 32 if constructor == "Counter" else 64)
            return Variable("scalar", constructor, width, 1, 1, None, False)
        if given["key"] not in self.keys:
            raise ProgramFault("%s is no key" % given["key"])
        if constructor == "HashMap":
            inner, inner_given = given["type"]
            inner = self.variable(inner, inner_given)
            return Variable("map", inner.alg, inner.width, 1, value("size", 0), given["key"],
                            given.get("collide") == "evict")
        alg = given["alg"]
        width = 1 if alg == "membership" else value("width", 8 if alg == "hyperloglog" else 32)
        return Variable(KINDS[alg], alg, width, value("nhash", 1), value("size", 0), given["key"], False)

    def decimal(self, expr):
        """The value of an expression that is a decimal, or None."""
        if expr[0] == "decimal":
            return expr[1]
        if expr[0] == "name" and isinstance(self.values.get(expr[1]), Fraction):
            return self.values[expr[1]]
        return None

    def width(self, field):
        for name, _, _, fields in self.headers:
            for part, bits in fields:
                if field == "%s.%s" % (name, part):
                    return bits
        return mafia_packets.WIDTHS[field]

    def check(self, step):
        kind = step[0]
        if kind in ("seq", "par"):
            for each in step[1]:
                self.check(each)
        elif kind == "update" and step[2] not in OPERATIONS[self.variables[step[1]].alg]:
            raise ProgramFault("%s.%s" % (step[1], step[2]))
        elif kind == "tag" and step[1] in mafia_packets.READ_ONLY:
            raise ProgramFault("tag(%s)" % step[1])

    def diagnostics(self):
        found = []
        for task in self.tasks:
            conflicts(self, task.step, found)
        return found


def unary(operator, value):
    return {"!": lambda: int(not value), "-": lambda: -value & MASK64, "~": lambda: ~value & MASK64}[operator]()


def binary(operator, a, b):
    """All but && and ||, modulo 2^64."""
    if operator in ("/", "%"):
        if b == 0:
            return 0
        return a // b if operator == "/" else a % b
    if operator in ("<<", ">>"):
        if b >= 64:
            return 0
        return (a << b if operator == "<<" else a >> b) & MASK64
    made = {"==": lambda: a == b, "!=": lambda: a != b, "<": lambda: a < b, "<=": lambda: a <= b,
            ">": lambda: a > b, ">=": lambda: a >= b, "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b,
            "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b,
            "&&": lambda: bool(a and b), "||": lambda: bool(a or b)}[operator]()
    return int(made) & MASK64


class Effects:
    """Which names (variables and header fields) a step reads and writes."""

    def __init__(self, layout):
        self.layout, self.reads, self.writes = layout, set(), set()

    def of(self, step):
        kind = step[0]
        if kind in ("seq", "par"):
            for each in step[1]:
                self.of(each)
        elif kind == "match":
            self.expr(step[1])
        elif kind == "tag":
            self.writes.add(step[1])
            self.expr(step[2])
        elif kind == "timestamp":
            self.touch(step[1], self.writes)
        elif kind == "update":
            self.touch(step[1], self.writes, by_key=step[2] != "init")
            self.expr(step[3])
        return self

    def touch(self, name, where, by_key=True):
        """Whoever finds cells by a key reads its fields; a filter as a number has them all."""
        where.add(name)
        variable = self.layout.variables[name]
        if variable.key and (by_key or not variable.serialises):
            self.reads |= set(self.layout.keys[variable.key])

    def expr(self, expr):
        if expr is None:
            return
        if expr[0] == "field":
            self.reads.add(expr[1])
        elif expr[0] in ("name", "call") and expr[1] in self.layout.variables:
            self.touch(expr[1], self.reads, by_key=expr[0] == "call" and expr[2] != "read")
        for part in expr[1:]:
            if isinstance(part, tuple):
                self.expr(part)


OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def leading_guards(step):
    """The conjuncts of all matches before anything else happens."""
    if step[0] == "match":
        return conjuncts(step[1]), True
    if step[0] != "seq":
        return [], False
    found = []
    for each in step[1]:
        guards, only_guards = leading_guards(each)
        found += guards
        if not only_guards:
            return found, False
    return found, True


def conjuncts(expr):
    if expr[:2] == ("binary", "&&"):
        return conjuncts(expr[2]) + conjuncts(expr[3])
    return [expr]


def kinds_of(expr):
    yield expr[0]
    for part in expr[1:]:
        if isinstance(part, tuple):
            yield from kinds_of(part)


def complementary(layout, a, b):
    """Whether never both hold, as far as can be seen without thinking; another draw is another value."""
    if "random" in kinds_of(a):
        return False
    if a[:2] == b[:2] == ("unary", "!"):
        # Nor both of what they deny; a ratio by 0 is neither above a bound nor not.
        return not (is_ratio(layout, a[2]) and is_ratio(layout, b[2])) and complementary(layout, a[2], b[2])
    if a == ("unary", "!", b) or b == ("unary", "!", a):
        return True
    return a[0] == b[0] == "binary" and OPPOSITE.get(a[1]) == b[1] and a[2:] == b[2:]


def is_ratio(layout, expr):
    """A comparison with a decimal."""
    is_comparison = expr[0] == "binary" and expr[1] in OPPOSITE
    return is_comparison and any(layout.decimal(side) is not None for side in expr[2:])


def conflicts(layout, step, found):
    """Adds (kind, name, note) for each pair of branches of each `++`."""
    if step[0] not in ("seq", "par"):
        return
    if step[0] == "par":
        for place, later in enumerate(step[1]):
            for earlier in step[1][:place]:
                a, b = Effects(layout).of(earlier), Effects(layout).of(later)
                exclusive = any(complementary(layout, one, other) for one in leading_guards(earlier)[0]
                                for other in leading_guards(later)[0])
                found += [("WW", name, "exclusive" if exclusive else "ordered")
                          for name in sorted(a.writes & b.writes)]
                found += [("RW", name, "exclusive" if exclusive else "snapshot")
                          for name in sorted(a.writes & b.reads | a.reads & b.writes)]
    for each in step[1]:
        conflicts(layout, each, found)
