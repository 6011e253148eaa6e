# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads the text of a measurement program (MAFIA) into plain tuples.

A program is a list of items:
  ("const", name, expr) ("param", name, expr or None) ("endpoint", [name]) ("role", name, [item])
  ("window", expr, mode) ("key", name, [field]) ("var", name, ctor, {keyword: value})
  ("header", name, expr, offset, [(field, bits)]) ("task", stream, expr or None, step)
A step is ("seq", [step]) ("par", [step]) ("match", expr) ("tag", field, expr) ("timestamp", name)
  ("duplicate", name) ("collect", name) ("update", name, operation, expr or None)
An expression is ("int", n) ("decimal", Fraction) ("field", name) ("name", name)
  ("call", name, method, expr or None) ("unary", op, e) ("binary", op, a, b) ("min" or "max", a, b)
  ("random", low, high)
"""
import re
from fractions import Fraction

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|\#[^\n]*)
  | (?P<ipv4>\d+\.\d+\.\d+\.\d+)
  | (?P<duration>\d+(?:\.\d+)?(?:ns|us|ms|s)\b)
  | (?P<decimal>\d+\.\d+)
  | (?P<int>0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)
  | (?P<ident>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<string>"[^"\n]*")
  | (?P<op>>>|<<|\+\+|==|!=|<=|>=|&&|\|\||[-+*/%&|^~!<>=(){}\[\]:;,.])
""", re.VERBOSE)
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}

FIELD_ALIASES = {
    "ip.src": "ipv4.src", "ip.dst": "ipv4.dst", "ip.dest": "ipv4.dst", "ip.proto": "ipv4.proto",
    "ipv4.dest": "ipv4.dst", "tcp.dest": "tcp.dst", "ipv4.identification": "ipv4.id",
    "ipv4.protocol": "ipv4.proto", "pkt.ipv4.tos": "ipv4.tos", "pkt.in_port": "pkt.input_port",
    "pkt.out_port": "pkt.output_port", "pkt.queue_length": "pkt.in_queue_length",
    "metadata.packet_length": "pkt.size",
}
ALG_ALIASES = {"countmin": "count-min", "hll": "hyperloglog"}
UPDATES = ("set", "add", "reset", "insert", "update", "init")
READS = ("test", "any", "all", "sum", "avg", "min", "max", "read")
# From loose to tight; comparisons do not chain.
LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">="), ("|",), ("^",), ("&",), ("<<", ">>"),
          ("+", "-"), ("*", "/", "%"))


class SyntaxFault(Exception):
    pass


def tokens_of(text):
    found, place = [], 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if not match:
            raise SyntaxFault("line %d: %r" % (text.count("\n", 0, place) + 1, text[place]))
        if match.lastgroup != "skip":
            found.append((match.lastgroup, match.group(), text.count("\n", 0, place) + 1))
        place = match.end()
    return found + [("end", "", text.count("\n") + 1)]


class Parser:
    def __init__(self, text):
        self.tokens, self.place = tokens_of(text), 0

    def sees(self, *texts):
        kind, text, _ = self.tokens[self.place]
        return kind != "string" and text in texts

    def sees_next(self, text):
        return self.place + 1 < len(self.tokens) and self.tokens[self.place + 1][1] == text

    def takes(self, *texts):
        if not self.sees(*texts):
            return None
        self.place += 1
        return self.tokens[self.place - 1][1]

    def fault(self, wanted):
        _, text, line = self.tokens[self.place]
        raise SyntaxFault("line %d: %r where %s is wanted" % (line, text, wanted))

    def wants(self, *texts):
        return self.takes(*texts) or self.fault(" or ".join(texts))

    def wants_kind(self, kind):
        found, text, _ = self.tokens[self.place]
        if found != kind:
            self.fault(kind)
        self.place += 1
        return text

    def name(self):
        return self.wants_kind("ident")

    def names(self):
        found = [self.name()]
        while self.takes(","):
            found.append(self.name())
        return found

    # --- items
    def items(self, closing):
        found = []
        while not self.sees(closing) and self.tokens[self.place][0] != "end":
            found.append(self.item())
            self.takes(";")
        return found

    def program(self):
        found = self.items("}")
        if self.tokens[self.place][0] != "end":
            self.fault("an item")
        return found

    def item(self):
        if self.sees("window") and self.sees_next("("):
            return self.window()
        if not self.sees_next("=") and not self.sees_next(">>") and not self.sees_next("."):
            word = self.takes("const", "param", "endpoint", "role", "header")
            if word:
                return getattr(self, word)()
        name = self.name()
        if self.takes("="):
            return self.declaration(name)
        period = None
        if self.takes("."):
            self.wants("window")
            period = self.window()
        self.wants(">>")
        return ("task", name, period, self.pipeline())

    def const(self):
        name = self.name()
        self.wants("=")
        return ("const", name, self.expr())

    def param(self):
        name = self.name()
        return ("param", name, self.expr() if self.takes("=") else None)

    def endpoint(self):
        return ("endpoint", self.names())

    def role(self):
        name = self.name()
        self.wants("{")
        inner = self.items("}")
        self.wants("}")
        return ("role", name, inner)

    def window(self):
        self.takes("window")
        self.wants("(")
        duration, quantum, mode = self.expr(), None, "reset"
        while self.takes(","):
            word = self.wants("quantum", "mode")
            self.wants("=")
            if word == "mode":
                mode = self.wants("reset", "flip")
            else:
                quantum = self.expr()
        self.wants(")")
        return ("window", duration, quantum, mode)

    def header(self):
        name = self.name()
        self.wants("when")
        guard = self.expr()
        self.wants("at")
        offset = int(self.wants_kind("int"), 0)
        self.wants("{")
        fields = []
        while not self.takes("}"):
            field = self.name()
            self.wants(":")
            fields.append((field, int(self.wants_kind("int"), 0)))
            self.takes(";")
        return ("header", name, guard, offset, fields)

    def declaration(self, name):
        if self.takes("Key", "key"):
            self.wants("(")
            fields = [self.field()]
            while self.takes(","):
                fields.append(self.field())
            self.wants(")")
            return ("key", name, fields)
        return ("var", name) + self.constructor("Counter", "Timestamp", "HashMap", "Sketch", "BloomFilter")

    def constructor(self, *which):
        kind = self.wants(*which)
        self.wants("(")
        given = {}
        while not self.sees(")"):
            if given:
                self.wants(",")
            word = self.wants("key", "alg", "type", "nhash", "size", "width", "w", "collide")
            word = "width" if word == "w" else word
            self.wants("=")
            if word in given:
                raise SyntaxFault("%s is given twice" % word)
            if word == "key":
                given[word] = self.name()
            elif word in ("alg", "collide"):
                text = self.wants_kind("string")[1:-1]
                given[word] = ALG_ALIASES.get(text, text)
            elif word == "type":
                given[word] = self.constructor("Counter", "Timestamp")
            else:
                given[word] = self.expr()
        self.wants(")")
        return kind, given

    def field(self):
        parts = [self.name()]
        while self.takes("."):
            parts.append(self.name())
        name = ".".join(parts)
        return "switch.id" if name == "switchid" else FIELD_ALIASES.get(name, name)

    # --- pipelines
    def pipeline(self):
        steps = [self.step()]
        for operator, kind in ((">>", "seq"), ("++", "par")):
            if self.sees(operator):
                while self.takes(operator):
                    steps.append(self.step())
                if self.sees(">>", "++"):
                    self.fault("one of >> and ++ only")
                return (kind, steps)
        return steps[0]

    def step(self):
        if self.takes("("):
            inner = self.pipeline()
            self.wants(")")
            return inner
        name = self.name()
        if self.takes("."):
            operation = self.wants(*UPDATES)
            self.wants("(")
            argument = None if self.sees(")") else self.expr()
            self.wants(")")
            return ("update", name, operation, argument)
        if name not in ("match", "tag", "timestamp", "duplicate", "collect"):
            self.fault("a primitive")
        self.wants("(")
        if name == "match":
            made = (name, self.expr())
        elif name == "tag":
            field = self.field()
            self.wants(",")
            made = (name, field, self.expr())
        else:
            made = (name, self.name())
        self.wants(")")
        return made

    # --- expressions
    def expr(self, level=0):
        if level == len(LEVELS):
            return self.unary()
        left = self.expr(level + 1)
        while True:
            operator = self.takes(*LEVELS[level])
            if not operator:
                return left
            left = ("binary", operator, left, self.expr(level + 1))
            if "==" in LEVELS[level]:
                return left

    def unary(self):
        operator = self.takes("!", "-", "~")
        return ("unary", operator, self.unary()) if operator else self.atom()

    def atom(self):
        kind, text, _ = self.tokens[self.place]
        if self.takes("("):
            inner = self.expr()
            self.wants(")")
            return inner
        if kind in ("int", "ipv4", "duration", "decimal"):
            self.place += 1
            return number(kind, text)
        if self.sees("min", "max") and self.sees_next("("):
            self.place += 2
            left = self.expr()
            self.wants(",")
            right = self.expr()
            self.wants(")")
            return (text, left, right)
        if self.sees("random") and self.sees_next("("):
            return self.random()
        return self.reference()

    def random(self):
        self.place += 2
        in_brackets = self.takes("[")
        low = self.expr()
        self.wants(":" if in_brackets else ",")
        high = self.expr()
        if in_brackets:
            self.wants("]")
        self.wants(")")
        return ("random", low, high)

    def reference(self):
        start, name = self.place, self.name()
        if name == "switchid":
            return ("field", "switch.id")
        if not self.takes("."):
            return ("name", name)
        method = self.name()
        if self.takes("("):
            if method not in READS:
                self.fault("a reading operation")
            argument = None if self.sees(")") else self.expr()
            self.wants(")")
            return ("call", name, method, argument)
        self.place = start
        return ("field", self.field())


def number(kind, text):
    if kind == "int":
        return ("int", int(text, 0) if text[:1] == "0" and text[1:2] in "xXbB" and len(text) > 1 else int(text))
    if kind == "decimal":
        return ("decimal", Fraction(text))
    if kind == "ipv4":
        parts = [int(each) for each in text.split(".")]
        if max(parts) > 255:
            raise SyntaxFault("%s is no address" % text)
        return ("int", int.from_bytes(bytes(parts), "big"))
    unit = re.sub(r"[\d.]", "", text)
    value = Fraction(text[:-len(unit)]) * UNITS[unit]
    if value.denominator != 1:
        raise SyntaxFault("%s is no whole number of ns" % text)
    return ("int", int(value))


def parse(text):
    """The items of a program; SyntaxFault where the grammar does not know it."""
    return Parser(text).program()
